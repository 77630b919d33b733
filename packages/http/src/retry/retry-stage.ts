import { ConnectionError, TimeoutError, TinkexError } from '@tinkex/types';
import type { Clock } from '../clock/clock.js';
import type { Random } from '../clock/random.js';
import { hasSubscribers, publish } from '../diagnostics/channels.js';
import type { EventSourceOf } from '../diagnostics/diagnostics-stage.js';
import { type Call, isAnswer, type Reply, requestTypeOf } from '../pipeline/call.js';
import { closedError, type Lifetime } from '../pipeline/lifetime.js';
import type { Stage } from '../pipeline/stage.js';
import { FailedResponse, type Retry, retry, withAttempts } from './retry.js';
import { httpStrategy } from './strategies.js';

/** One failed attempt that will be followed by another. */
export interface RetryInfo {
  /** The attempt that failed, from 0. */
  readonly attempt: number;
  /** The wait before the next attempt, milliseconds. */
  readonly delayMs: number;
  /** Set when the server answered. */
  readonly status?: number;
  /** Set when it did not. */
  readonly error?: unknown;
}

type Next = (call: Call) => Promise<Reply>;

/** Makes attempts until one succeeds or none may follow. The last reply or error comes out, with the number of attempts on it. */
export function retryStage(clock: Clock, random: Random, lifetime: Lifetime, source: EventSourceOf): Stage<Call, Reply> {
  const retryCall = async (call: Call, next: Next, firstError: unknown): Promise<Reply> => {
    try {
      return await retry((failures) => (failures === 0 ? Promise.reject(firstError) : attempt(call, next)), {
        strategies: [httpStrategy({ maxRetries: call.maxRetries, random })],
        clock,
        signal: call.signal,
        onRetry: (failed) => {
          if (lifetime.isClosed) throw closedError();
          if (failed.nowMs + failed.delayMs >= call.totalDeadlineAtMs) throw outOfTime(call, failed);
          announce(call, failed, source);
        },
        wait: async (delayMs) => {
          await lifetime.wait(delayMs, call.signal);
          call.retryDelayMs += delayMs;
          call.attempt += 1;
          // A new object: the last attempt's headers may have been recorded.
          call.headers = { ...call.headers, 'x-stainless-retry-count': String(call.attempt) };
        },
      });
    } catch (error) {
      if (error instanceof FailedResponse) return error.response as Reply;
      throw withAttempts(error, call.attempt + 1);
    }
  };
  // The usual call ends with its first attempt: it pays for one `then`, not for the frame of the retries.
  return (call, next) =>
    next(call).then(
      (reply) => (isAnswer(call, reply.status) ? reply : retryCall(call, next, new FailedResponse(reply))),
      (error: unknown) => retryCall(call, next, error),
    );
}

async function attempt(call: Call, next: Next): Promise<Reply> {
  const reply = await next(call);
  if (isAnswer(call, reply.status)) return reply;
  throw new FailedResponse(reply);
}

function announce(call: Call, { error, status, delayMs }: Retry, source: EventSourceOf): void {
  const { attempt, method, path } = call;
  const isReply = error instanceof FailedResponse;
  call.onRetry?.({ attempt, delayMs, ...(isReply ? { status: status as number } : { error }) });
  if (!hasSubscribers('tinkex:http:request:retry')) return;
  publish('tinkex:http:request:retry', {
    ...source(),
    requestType: requestTypeOf(call),
    method,
    path,
    attempt,
    delayMs,
    ...(isReply ? { status: status as number } : {}),
    ...(TinkexError.isInstance(error) ? { errorCode: error.code } : {}),
  });
}

function outOfTime({ method, path }: Call, { error, status }: Retry): TimeoutError {
  const message = `${method} ${path} ran out of its total time limit while retrying.`;
  const cause = error instanceof FailedResponse ? new ConnectionError({ message: `The last answer had status ${status}.` }) : error;
  return new TimeoutError({ message, phase: 'total', cause });
}
