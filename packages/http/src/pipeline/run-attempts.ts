import { ConnectionError, type EventSource, type HttpRequestEvent, TimeoutError, TinkexError } from '@tinkex/types';
import { type Call, isAnswer, type Reply, requestIdOf, requestTypeOf } from '../call/call.js';
import type { Random } from '../clock/clock.js';
import { elapsedMs, remainingMs } from '../clock/monotonic-time.js';
import { channel, hasSubscribers, publish } from '../diagnostics/channels.js';
import { type Retry, retry, UnsuccessfulResponse, withAttempts } from '../retry/retry.js';
import { httpStrategy } from '../retry/strategies.js';
import { byteLengthOf } from '../runtime/bytes.js';
import { closedConnections } from '../transport/undici-exchange.js';
import { Attempt, type AttemptParts } from './attempt.js';
import { closedError } from './open-requests.js';

const START = channel('tinkex:http:request:start');
const STOP = channel('tinkex:http:request:stop');
const EXCEPTION = channel('tinkex:http:request:exception');

/** What all calls of a client share. */
export interface CallParts extends AttemptParts {
  readonly random: Random;
  /** Read for each event: a client may get its session late. */
  readonly source: () => EventSource;
  /** The error of a reply in which a proxy refuses the connection; undefined for any other. */
  readonly edgeFault: (call: Call, reply: Reply) => ConnectionError | undefined;
}

/**
 * Makes attempts until one succeeds or none may follow.
 *
 * @returns The last reply, successful or not.
 * @throws The last error, with the number of attempts on it.
 */
export function runAttempts(call: Call, parts: CallParts): Promise<Reply> {
  // The usual call ends with its first attempt: it pays for one `then`, not for the frame of the retries.
  return runAttempt(call, parts).then(
    (reply) => (isAnswer(call, reply.status) ? reply : retryAttempts(call, parts, failureOf(call, reply, parts))),
    (error: unknown) => (isRepeated(call, error) ? repeatAlone(call, parts, error) : retryAttempts(call, parts, error)),
  );
}

function runAttempt(call: Call, parts: CallParts): Promise<Reply> {
  return areAttemptsObserved() ? runObserved(call, parts) : Attempt.run(call, parts);
}

/** True when the start or the end of an attempt has subscribers. */
function areAttemptsObserved(): boolean {
  return START.hasSubscribers || STOP.hasSubscribers || EXCEPTION.hasSubscribers;
}

/** Publishes the start and the end of an attempt, on one object that grows from what is known at the start to what is known at the end. */
function runObserved(call: Call, parts: CallParts): Promise<Reply> {
  const { clock } = parts;
  const { clientId, baseUrl, sessionId } = parts.source();
  const { method, path, pool, attempt, body } = call;
  const startedAt = clock.monotonicMs();
  // One literal with every field: a spread, or fields added later, cost several microseconds on Node 20 (docs/decisions/0504-spread-last.md).
  const event: { -readonly [Name in keyof HttpRequestEvent]: HttpRequestEvent[Name] } = {
    clientId,
    baseUrl,
    sessionId,
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
  return Attempt.run(call, parts).then(
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

function isRepeated(call: Call, error: unknown): boolean {
  return call.repeatsOnClosedConnection && ConnectionError.isInstance(error) && closedConnections.has(error);
}

/** The next connection of the pool may be closed as well: this attempt opens its own. */
async function repeatAlone(call: Call, parts: CallParts, error: unknown): Promise<Reply> {
  if (parts.openRequests.isClosed) throw closedError();
  announce(call, { error, delayMs: 0 }, parts);
  call.isAlone = true;
  try {
    return await runNextAttempt(call, parts);
  } catch (next) {
    return retryAttempts(call, parts, next);
  }
}

function failureOf(call: Call, reply: Reply, { edgeFault }: CallParts): unknown {
  const fault = call.retriesEdgeRejections ? edgeFault(call, reply) : undefined;
  return fault ?? new UnsuccessfulResponse(reply);
}

async function retryAttempts(call: Call, parts: CallParts, firstError: unknown): Promise<Reply> {
  const { clock, random, openRequests } = parts;
  try {
    return await retry((failures) => (failures === 0 ? Promise.reject(firstError) : runNextAttempt(call, parts)), {
      strategies: [httpStrategy({ maxRetries: call.maxRetries, random })],
      clock,
      signal: call.signal,
      onRetry: (failed) => {
        if (openRequests.isClosed) throw closedError();
        if (remainingMs(clock, call.deadline) <= failed.delayMs) throw outOfTime(call, failed);
        announce(call, failed, parts);
      },
      wait: (delayMs) => openRequests.wait(delayMs, call.signal),
    });
  } catch (error) {
    if (error instanceof UnsuccessfulResponse) return error.response as Reply;
    throw withAttempts(error, call.attempt + 1);
  }
}

async function runNextAttempt(call: Call, parts: CallParts): Promise<Reply> {
  call.attempt += 1;
  // A new object: the last attempt's headers may have been recorded.
  call.headers = { ...call.headers, 'x-stainless-retry-count': String(call.attempt) };
  const reply = await runAttempt(call, parts);
  if (isAnswer(call, reply.status)) return reply;
  throw failureOf(call, reply, parts);
}

function announce(call: Call, { error, delayMs, ...failed }: Pick<Retry, 'error' | 'delayMs' | 'status'>, { source }: CallParts): void {
  const { attempt, method, path } = call;
  const status = error instanceof UnsuccessfulResponse ? failed.status : undefined;
  call.onRetry?.(status === undefined ? { attempt, delayMs, error } : { attempt, delayMs, status });
  call.retryDelayMs += delayMs;
  if (!hasSubscribers('tinkex:http:request:retry')) return;
  publish('tinkex:http:request:retry', {
    ...source(),
    requestType: requestTypeOf(call),
    callId: call.callId,
    method,
    path,
    attempt,
    delayMs,
    status,
    errorCode: TinkexError.isInstance(error) ? error.code : undefined,
  });
}

function outOfTime({ method, path }: Call, { error, status }: Retry): TimeoutError {
  const message = `${method} ${path} ran out of its time limit while retrying.`;
  const cause = error instanceof UnsuccessfulResponse ? new ConnectionError({ message: `The last response had status ${status}.` }) : error;
  return new TimeoutError({ message, phase: 'total', cause });
}
