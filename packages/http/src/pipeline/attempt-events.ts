import { type EventSource, type HttpRequestEvent, type RequestType, TinkexError } from '@tinkex/types';
import { type Call, type Reply, requestIdOf, requestTypeOf } from '../call/call.js';
import type { Clock } from '../clock/clock.js';
import { channel, publish } from '../diagnostics/channels.js';

const START = channel('tinkex:http:request:start');
const STOP = channel('tinkex:http:request:stop');
const EXCEPTION = channel('tinkex:http:request:exception');

/** True when the start or the end of an attempt has subscribers. */
export function areAttemptsObserved(): boolean {
  return START.hasSubscribers || STOP.hasSubscribers || EXCEPTION.hasSubscribers;
}

/** Publishes the start and the end of an attempt, on one object. */
export function observeAttempt(call: Call, clock: Clock, source: EventSource, run: () => Promise<Reply>): Promise<Reply> {
  const event = new AttemptEvent(call, clock.now(), source);
  publish('tinkex:http:request:start', event);
  return run().then(
    (reply) => {
      event.answered(reply, clock.now());
      publish('tinkex:http:request:stop', event);
      return reply;
    },
    (error: unknown) => {
      event.failed(error, clock.now());
      publish('tinkex:http:request:exception', event);
      throw error;
    },
  );
}

/** A class, because its objects have room from the start for what is known only at the end. */
class AttemptEvent implements HttpRequestEvent {
  readonly requestType: RequestType;
  readonly method: string;
  readonly path: string;
  readonly pool: string;
  readonly attempt: number;
  readonly requestBytes: number;
  readonly startedAtMs: number;
  readonly clientId: string;
  readonly baseUrl: string;
  declare readonly sessionId?: string;
  declare requestId?: string;
  declare durationMs?: number;
  declare status?: number;
  declare responseBytes?: number;
  declare errorCode?: string;
  declare errorName?: string;

  constructor(call: Call, startedAtMs: number, { clientId, baseUrl, sessionId }: EventSource) {
    this.requestType = requestTypeOf(call);
    this.method = call.method;
    this.path = call.path;
    this.pool = call.pool;
    this.attempt = call.attempt;
    this.requestBytes = call.body === undefined ? 0 : Buffer.byteLength(call.body);
    this.startedAtMs = startedAtMs;
    this.clientId = clientId;
    this.baseUrl = baseUrl;
    if (sessionId !== undefined) this.sessionId = sessionId;
  }

  answered(reply: Reply, nowMs: number): void {
    this.durationMs = nowMs - this.startedAtMs;
    this.status = reply.status;
    if (reply.stream === undefined) this.responseBytes = reply.bytes.byteLength;
    const requestId = requestIdOf(reply.headers);
    if (requestId !== undefined) this.requestId = requestId;
  }

  failed(error: unknown, nowMs: number): void {
    this.durationMs = nowMs - this.startedAtMs;
    this.errorName = error instanceof Error ? error.name : 'unknown';
    if (TinkexError.isInstance(error)) this.errorCode = error.code;
  }
}
