import { type EventSource, type HttpRequestEvent, type RequestType, TinkexError } from '@tinkex/types';
import { type Call, type Reply, requestTypeOf } from '../pipeline/call.js';
import { requestIdOf } from '../pipeline/request-id.js';

/**
 * What is told about an attempt when it starts and, on the same object, when it ends. A class because its objects have room from the start for
 * what is known at the end only; a literal would have to grow twice.
 */
export class AttemptEvent implements HttpRequestEvent {
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
