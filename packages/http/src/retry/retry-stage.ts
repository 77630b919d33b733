import { ConnectionError, TimeoutError, TinkexError } from '@tinkex/types';
import type { Clock } from '../clock/clock.js';
import type { Random } from '../clock/random.js';
import { hasSubscribers, publish } from '../diagnostics/channels.js';
import type { EventSourceOf } from '../diagnostics/diagnostics-stage.js';
import { type Call, isAnswer, type Reply, requestTypeOf } from '../pipeline/call.js';
import { closedError, type Lifetime } from '../pipeline/lifetime.js';
import type { Stage } from '../pipeline/stage.js';
import { type AttemptOutcome, decideRetry } from './retry-policy.js';
import { withAttempts } from './with-attempts.js';

type Next = (call: Call) => Promise<Reply>;

/** Makes attempts until one is good, none is worth it or the time is up. The last reply or error comes out, with the count on it. */
export function retryStage(clock: Clock, random: Random, lifetime: Lifetime, source: EventSourceOf): Stage<Call, Reply> {
  const loop = new RetryLoop(clock, random, lifetime, source);
  // The usual call ends with its first attempt: it pays for one `then`, not for the loop's frame.
  return (call, next) =>
    next(call).then(
      (reply) => (isAnswer(call, reply.status) ? reply : loop.again(call, next, reply, reply)),
      (error: unknown) => loop.again(call, next, { error }, undefined),
    );
}

class RetryLoop {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #lifetime: Lifetime;
  readonly #source: EventSourceOf;

  constructor(clock: Clock, random: Random, lifetime: Lifetime, source: EventSourceOf) {
    this.#clock = clock;
    this.#random = random;
    this.#lifetime = lifetime;
    this.#source = source;
  }

  /** Goes on after an attempt that was not good. */
  async again(call: Call, next: Next, firstOutcome: AttemptOutcome, firstReply: Reply | undefined): Promise<Reply> {
    let outcome = firstOutcome;
    let reply = firstReply;
    for (;;) {
      const decision = decideRetry(call.attempt, outcome, call.maxRetries, this.#random, this.#clock.now());
      if (!decision.retry) {
        if (reply !== undefined) return reply;
        throw withAttempts(outcome.error, call.attempt + 1);
      }
      await this.#wait(call, decision.delayMs, outcome);
      try {
        reply = await next(call);
        if (isAnswer(call, reply.status)) return reply;
        outcome = reply;
      } catch (error) {
        outcome = { error };
        reply = undefined;
      }
    }
  }

  async #wait(call: Call, delayMs: number, outcome: AttemptOutcome): Promise<void> {
    if (this.#lifetime.isClosed) throw withAttempts(closedError(), call.attempt + 1);
    if (this.#clock.now() + delayMs >= call.totalDeadlineAtMs) throw outOfTime(call, outcome);
    announce(call, delayMs, outcome, this.#source);
    try {
      await this.#lifetime.wait(delayMs, call.signal);
    } catch (error) {
      throw withAttempts(error, call.attempt + 1);
    }
    call.retryDelayMs += delayMs;
    call.attempt += 1;
    // A new object: the last attempt's headers may have been recorded.
    call.headers = { ...call.headers, 'x-stainless-retry-count': String(call.attempt) };
  }
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
  const message = `${method} ${path} ran out of its total time limit while retrying.`;
  const cause = outcome.error ?? new ConnectionError({ message: `The last answer had status ${outcome.status}.` });
  return new TimeoutError({ message, phase: 'total', attempts: attempt + 1, cause });
}
