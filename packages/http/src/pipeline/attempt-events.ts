import { type EventSource, type HttpRequestEvent, TinkexError } from '@tinkex/types';
import { type Call, type Reply, requestIdOf, requestTypeOf } from '../call/call.js';
import type { Clock } from '../clock/clock.js';
import { elapsedMs } from '../clock/monotonic-time.js';
import { channel, publish } from '../diagnostics/channels.js';
import { byteLengthOf } from '../runtime/bytes.js';

const START = channel('tinkex:http:request:start');
const STOP = channel('tinkex:http:request:stop');
const EXCEPTION = channel('tinkex:http:request:exception');

/** Grows from what is known at the start to what is known at the end. */
type AttemptEvent = { -readonly [Name in keyof HttpRequestEvent]: HttpRequestEvent[Name] };

/** True when the start or the end of an attempt has subscribers. */
export function areAttemptsObserved(): boolean {
  return START.hasSubscribers || STOP.hasSubscribers || EXCEPTION.hasSubscribers;
}

/** Publishes the start and the end of an attempt, on one object. */
export function observeAttempt(call: Call, clock: Clock, source: EventSource, run: () => Promise<Reply>): Promise<Reply> {
  const { method, path, pool, attempt, body } = call;
  const startedAt = clock.monotonicMs();
  // One literal with every field: a spread, or fields added later, cost several microseconds on Node 20 (docs/decisions/0504-spread-last.md).
  const event: AttemptEvent = {
    clientId: source.clientId,
    baseUrl: source.baseUrl,
    sessionId: source.sessionId,
    requestType: requestTypeOf(call),
    callId: call.callId,
    requestId: undefined,
    method,
    path,
    pool,
    attempt,
    requestBytes: body === undefined ? 0 : byteLengthOf(body),
    startedAtMs: clock.wallMs(),
    durationMs: undefined,
    status: undefined,
    responseBytes: undefined,
    errorCode: undefined,
    errorName: undefined,
  };
  publish('tinkex:http:request:start', event);
  return run().then(
    (reply) => {
      const { status, headers, bytes, stream } = reply;
      event.durationMs = elapsedMs(clock, startedAt);
      event.status = status;
      if (stream === undefined) event.responseBytes = bytes.byteLength;
      event.requestId = requestIdOf(headers);
      publish('tinkex:http:request:stop', event);
      return reply;
    },
    (error: unknown) => {
      event.durationMs = elapsedMs(clock, startedAt);
      event.errorName = error instanceof Error ? error.name : 'unknown';
      if (TinkexError.isInstance(error)) event.errorCode = error.code;
      publish('tinkex:http:request:exception', event);
      throw error;
    },
  );
}
