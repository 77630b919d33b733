import type { FaultPlan } from '../faults/faults.js';

/** One HTTP request as the core sees it, without sockets or fetch objects. Every front creates these. */
export interface ServerRequest {
  readonly method: string;
  /** The path and query as they were sent, e.g. `/api/v1/training_runs?limit=20`. */
  readonly target: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** The address of the client; undefined in memory. */
  readonly peer?: string | undefined;
  /** Calls `listener` at most once, when the client goes away. Returns a function that stops listening. */
  onAbort?(listener: () => void): () => void;
}

/** The core's answer. With a fault, the front damages its delivery. */
export interface ServerReply {
  readonly status: number;
  /** Lower-case names. `content-length` is added by the front. */
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array;
  readonly fault?: FaultPlan | undefined;
}

/** Thrown by handlers to answer with an error status. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
  readonly reply: ServerReply;

  constructor(reply: ServerReply) {
    super(`HTTP ${reply.status}`);
    this.reply = reply;
  }
}

/** A body as bytes. */
export function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

const JSON_TYPE = 'application/json';

/** A JSON reply from text that already is JSON. */
export function jsonTextReply(status: number, text: string, headers?: Readonly<Record<string, string>>): ServerReply {
  return { status, headers: headers === undefined ? { 'content-type': JSON_TYPE } : { 'content-type': JSON_TYPE, ...headers }, body: text };
}

/** A JSON reply. */
export function jsonReply(status: number, value: unknown, headers?: Readonly<Record<string, string>>): ServerReply {
  return jsonTextReply(status, JSON.stringify(value), headers);
}

/** An error reply in the service's shape, `{ "detail": … }`. */
export function errorReply(status: number, detail: unknown, headers?: Readonly<Record<string, string>>): ServerReply {
  return jsonReply(status, { detail }, headers);
}

/** Ends the handler with an error reply. */
export function refuse(status: number, detail: string, headers?: Readonly<Record<string, string>>): never {
  throw new ReplyError(errorReply(status, detail, headers));
}
