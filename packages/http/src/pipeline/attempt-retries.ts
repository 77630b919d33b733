import { ConnectionError, type EventSource, TimeoutError, TinkexError } from '@tinkex/types';
import { type Call, isAnswer, type Reply, requestTypeOf } from '../call/call.js';
import type { Random } from '../clock/clock.js';
import { remainingMs } from '../clock/monotonic-time.js';
import { hasSubscribers, publish } from '../diagnostics/channels.js';
import { type Retry, retry, UnsuccessfulResponse, withAttempts } from '../retry/retry.js';
import { httpStrategy } from '../retry/strategies.js';
import { Attempt, type AttemptParts } from './attempt.js';
import { areAttemptsObserved, observeAttempt } from './attempt-events.js';
import { closedError } from './open-requests.js';

/** What all calls of a client share. */
export interface CallParts extends AttemptParts {
  readonly random: Random;
  /** Read for each event: a client may get its session late. */
  readonly source: () => EventSource;
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
    (reply) => (isAnswer(call, reply.status) ? reply : retryAttempts(call, parts, new UnsuccessfulResponse(reply))),
    (error: unknown) => retryAttempts(call, parts, error),
  );
}

function runAttempt(call: Call, parts: CallParts): Promise<Reply> {
  if (!areAttemptsObserved()) return Attempt.run(call, parts);
  return observeAttempt(call, parts.clock, parts.source(), () => Attempt.run(call, parts));
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
  throw new UnsuccessfulResponse(reply);
}

function announce(call: Call, { error, delayMs, ...failed }: Retry, { source }: CallParts): void {
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
