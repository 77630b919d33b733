import { type Clock, type HttpClient, hasSubscribers, publish, sleep } from '@tinkex/http';
import { type ApiStatusError, type EventSource, endpoints } from '@tinkex/types';
import { BILLING_PAUSE_MS, type BillingPause } from '../limits/billing-pause.js';
import type { ByteBudget } from '../limits/byte-budget.js';
import type { Slots } from '../limits/slots.js';
import { answerOfError, answerOfResponse } from './poll-answer.js';
import { decidePoll, FIRST_POLL, type PollAnswer, type PollDecision, type PollMemory, type PollWait } from './poll-decision.js';
import { HELD_ANSWER_MS, pollFloorMs } from './poll-pace.js';
import type { QueueReport } from './queue-state.js';
import { decodeResult, type ResultDecoder } from './result-decoder.js';

/** One promise to wait for. */
export interface PollJob<T> {
  readonly requestId: string;
  /** The operation's name in the protocol. */
  readonly requestType: string;
  readonly decoder: ResultDecoder<T>;
  /** Ends the polling with `AbortedError`; the operation itself goes on at the server. */
  readonly signal: AbortSignal;
  /** From the call to the first poll; told to the server with the first poll. */
  readonly roundtripMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** After each answer. */
  readonly onPolled?: () => void;
  /** Each time the server tells a queue state, changed or not. */
  readonly onQueueState?: (report: QueueReport, requestId: string) => void;
}

/** What the polling of one connection shares. */
export interface PollerParts {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly billingPause: BillingPause;
  /** Room for large results. */
  readonly responseBudget: ByteBudget;
  /** Polls in flight at once. */
  readonly slots: Slots;
  /** The `Accept` header for results that exist as protobuf. */
  readonly acceptResult: string;
  readonly source: () => EventSource;
}

const { path, pool, timeoutMs, request: requestCodec } = endpoints.retrieveFuture;

/** Polls promises until they have a result. */
export class Poller {
  readonly #parts: PollerParts;
  #pending = 0;

  constructor(parts: PollerParts) {
    this.#parts = parts;
  }

  /** How many promises are being waited for. */
  get pending(): number {
    return this.#pending;
  }

  /** @throws `RequestFailedError`, `FutureExpiredError`, `ApiStatusError`, `ValidationError`, or `AbortedError`. */
  async poll<T>(job: PollJob<T>): Promise<T> {
    this.#pending += 1;
    const held: { release?: () => void } = {};
    try {
      return await this.#loop(job, held);
    } finally {
      held.release?.();
      this.#pending -= 1;
    }
  }

  async #loop<T>(job: PollJob<T>, held: { release?: () => void }): Promise<T> {
    const { clock, responseBudget } = this.#parts;
    let memory = FIRST_POLL;
    let quickAnswers = 0;
    for (let iteration = 0; ; iteration += 1) {
      const { answer, startedAtMs } = await this.#ask(job, memory, iteration);
      const answeredAtMs = clock.now();
      quickAnswers = answeredAtMs - startedAtMs >= HELD_ANSWER_MS ? 0 : quickAnswers + 1;
      const decision = decidePoll(memory, answer, job.requestId, job.requestType);
      this.#publish(job, iteration, decision, answer, answeredAtMs - startedAtMs);
      job.onPolled?.();
      switch (decision.action) {
        case 'resolve':
          return decodeResult(job.decoder, decision, job.requestType);
        case 'reject':
          throw decision.error;
        case 'fetch':
          memory = decision.memory;
          held.release = await responseBudget.enter(decision.sizeBytes, job.signal);
          break;
        case 'bill':
          await this.#pauseUnpaid(decision.error, job.signal);
          break;
        case 'repoll':
          memory = decision.memory;
          if (decision.queue !== undefined) job.onQueueState?.(decision.queue, job.requestId);
          await this.#wait(decision.wait, startedAtMs, quickAnswers - 1, job.signal);
      }
    }
  }

  async #ask<T>(job: PollJob<T>, memory: PollMemory, iteration: number): Promise<{ answer: PollAnswer; startedAtMs: number }> {
    const { http, slots, acceptResult, clock } = this.#parts;
    await slots.enter(job.signal, !memory.allowMetadataOnly);
    const startedAtMs = clock.now();
    try {
      const response = await http.request({
        method: 'POST',
        path,
        pool,
        timeoutMs,
        maxRetries: 0,
        body: requestCodec.encode({ requestId: job.requestId, allowMetadataOnly: memory.allowMetadataOnly }),
        accept: job.decoder.protobuf === undefined ? 'application/json' : acceptResult,
        headers: this.#headers(job, iteration),
        signal: job.signal,
        requestType: job.requestType,
        acceptStatus: [400, 408],
        parse: (raw) => raw,
      });
      return { answer: answerOfResponse(response), startedAtMs };
    } catch (error) {
      if (job.signal.aborted) throw error;
      return { answer: answerOfError(error), startedAtMs };
    } finally {
      slots.leave();
    }
  }

  #headers<T>(job: PollJob<T>, iteration: number): Record<string, string> {
    const headers: Record<string, string> = {
      ...job.headers,
      'x-tinker-request-iteration': String(iteration),
      'x-tinker-request-type': job.requestType,
    };
    if (iteration === 0 && job.roundtripMs !== undefined) {
      headers['x-tinker-create-promise-roundtrip-time'] = String(job.roundtripMs / 1000);
    }
    return headers;
  }

  async #wait(wait: PollWait, startedAtMs: number, quickAnswers: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const sinceStartMs = clock.now() - startedAtMs;
    const delayMs =
      wait.from === 'pace'
        ? pollFloorMs(Math.max(quickAnswers, 0), this.#pending) - sinceStartMs
        : wait.from === 'after-start'
          ? wait.delayMs - sinceStartMs
          : wait.delayMs;
    if (delayMs > 0) await sleep(clock, delayMs, signal);
  }

  async #pauseUnpaid(error: ApiStatusError, signal: AbortSignal): Promise<void> {
    if (!this.#parts.billingPause.judge(error.status).isPaused) throw error;
    await sleep(this.#parts.clock, BILLING_PAUSE_MS, signal);
  }

  #publish<T>(job: PollJob<T>, attempt: number, decision: PollDecision, answer: PollAnswer, durationMs: number): void {
    if (!hasSubscribers('tinkex:future:poll')) return;
    const status = answer.kind === 'refusal' ? answer.error.status : answer.kind === 'success' ? 200 : undefined;
    publish('tinkex:future:poll', {
      ...this.#parts.source(),
      requestType: job.requestType,
      requestId: job.requestId,
      attempt,
      outcome: outcomeOf(decision, answer),
      ...(status === undefined ? {} : { status }),
      durationMs,
    });
  }
}

function outcomeOf(decision: PollDecision, answer: PollAnswer): 'result' | 'pending' | 'metadata' | 'failed' | 'retry' {
  if (decision.action === 'resolve') return 'result';
  if (decision.action === 'reject') return 'failed';
  if (decision.action === 'fetch') return 'metadata';
  const isPending = answer.kind === 'success' || (answer.kind === 'refusal' && answer.error.status === 408);
  return isPending ? 'pending' : 'retry';
}

