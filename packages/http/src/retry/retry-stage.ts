import { ConnectionError, TimeoutError, TinkexError } from '@tinkex/types';
import type { Clock } from '../clock/clock.js';
import type { Random } from '../clock/random.js';
import { hasSubscribers, publish } from '../diagnostics/channels.js';
import type { EventSourceOf } from '../diagnostics/diagnostics-stage.js';
import { type Call, isAnswer, type Reply, requestTypeOf } from '../pipeline/call.js';
import { closedError, type Lifetime } from '../pipeline/lifetime.js';
import type { Stage } from '../pipeline/stage.js';
import { type AttemptOutcome, decideRetry } from './retry-policy.js';

/** Makes attempts until one is good, none is worth it or the time is up. The last reply or error comes out, with the count on it. */
export function retryStage(clock: Clock, random: Random, lifetime: Lifetime, source: EventSourceOf): Stage<Call, Reply> {
  return async (call, next) => {
    for (;;) {
      let outcome: AttemptOutcome;
      let reply: Reply | undefined;
      try {
        reply = await next(call);
        if (isAnswer(call, reply.status)) return reply;
        outcome = reply;
      } catch (error) {
        outcome = { error };
      }
      const decision = decideRetry(call.attempt, outcome, call.maxRetries, random, clock.now());
      if (!decision.retry) {
        if (reply !== undefined) return reply;
        throw withAttempts(outcome.error, call.attempt + 1);
      }
      if (lifetime.isClosed) throw withAttempts(closedError(), call.attempt + 1);
      const { delayMs } = decision;
      if (clock.now() + delayMs >= call.totalDeadlineAtMs) throw outOfTime(call, outcome);
      announce(call, delayMs, outcome, source);
      await lifetime.wait(delayMs, call.signal).catch((error: unknown) => {
        throw withAttempts(error, call.attempt + 1);
      });
      call.retryDelayMs += delayMs;
      call.attempt += 1;
      // A new object: the last attempt's headers may have been recorded.
      call.headers = { ...call.headers, 'x-stainless-retry-count': String(call.attempt) };
    }
  };
}

/** Notes on an error how many requests were made before it was given to the caller. */
export function withAttempts(error: unknown, attempts: number): unknown {
  if (TinkexError.isInstance(error) && error.attempts !== attempts) Object.defineProperty(error, 'attempts', { value: attempts, enumerable: true, configurable: true });
  return error;
}

function announce(call: Call, delayMs: number, outcome: AttemptOutcome, source: EventSourceOf): void {
  const { attempt, method, path } = call;
  const { status, error } = outcome;
  call.onRetry?.({ attempt, delayMs, ...(status === undefined ? { error } : { status }) });
  if (!hasSubscribers('tinkex:http:request:retry')) return;
  publish('tinkex:http:request:retry', {
    ...source(),
    requestType: requestTypeOf(call),
    method,
    path,
    attempt,
    delayMs,
    ...(status === undefined ? {} : { status }),
    ...(TinkexError.isInstance(error) ? { errorCode: error.code } : {}),
  });
}

function outOfTime(call: Call, outcome: AttemptOutcome): TimeoutError {
  const { method, path, attempt } = call;
  const cause = outcome.error ?? new ConnectionError({ message: `The last answer had status ${outcome.status}.` });
  return new TimeoutError({ message: `${method} ${path} ran out of its total time limit while retrying.`, phase: 'total', attempts: attempt + 1, cause });
}
