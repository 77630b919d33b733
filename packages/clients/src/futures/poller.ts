import { type Clock, type HttpClient, hasSubscribers, publish, type RawResponse, sleep } from '@tinkex/http';
import type { ClientReport } from '@tinkex/telemetry/reporter';
import type { ApiStatusError, EventSource } from '@tinkex/types';
import { endpoints } from '@tinkex/types/wire';
import type { AdmissionQueue } from '../limits/admission-queue.js';
import { BILLING_PAUSE_MS, type BillingPause } from '../limits/billing-pause.js';
import type { PollObserver } from './running-call.js';
import { answerOfError, answerOfResponse } from './poll-answer.js';
import { pollBody } from './poll-body.js';
import { decidePoll, FIRST_POLL, type PollAnswer, type PollDecision, type PollMemory, type PollWait } from './poll-decision.js';
import { HELD_ANSWER_MS, pollFloorMs } from './poll-pace.js';
import { pollReport, undecodableReport } from './poll-report.js';
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
  /** False: requests go without the signal, because only the closing of the client can end this job. Default true. */
  readonly isRequestAbortable?: boolean;
  /** From the call to the first poll; told to the server with the first poll. */
  readonly roundtripMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Told of answers and queue states; in place of the two callbacks. */
  readonly observer?: PollObserver;
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
  readonly responseBudget: AdmissionQueue;
  /** Polls in flight at once. */
  readonly slots: AdmissionQueue;
  /** The `Accept` header for results that exist as protobuf. */
  readonly acceptResult: string;
  readonly source: () => EventSource;
  /** Told what the service should know about failed polls. */
  readonly onReport?: (report: ClientReport) => void;
}

const { path, pool, timeoutMs } = endpoints.retrieveFuture;

/** The ordinary "not yet", which the loop reads itself. */
const POLLED_STATUSES = [408] as const;
const whole = (response: RawResponse): RawResponse => response;

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
    const { clock, responseBudget, slots } = this.#parts;
    let memory = FIRST_POLL;
    let quickAnswers = 0;
    let heldBytes = 0;
    const begunAtMs = clock.now();
    this.#pending += 1;
    try {
      // One frame for the whole life of a promise: thousands of them may stand in line for a slot.
      for (let iteration = 0; ; iteration += 1) {
        if (!slots.tryEnter()) await slots.enter(1, requestSignalOf(job), !memory.allowMetadataOnly);
        const startedAtMs = clock.now();
        const answer = await this.#ask(job, memory, iteration);
        const heldMs = clock.now() - startedAtMs;
        quickAnswers = heldMs >= HELD_ANSWER_MS ? 0 : quickAnswers + 1;
        const decision = decidePoll(memory, answer, job.requestId, job.requestType);
        this.#publish(job, iteration, decision, answer, heldMs);
        if (answer.kind !== 'success' || decision.action === 'reject') this.#report(job, memory, answer, decision, iteration, begunAtMs);
        job.observer?.polled();
        job.onPolled?.();
        if (decision.action === 'resolve') return this.#decode(job, decision, iteration, begunAtMs);
        if (decision.action === 'reject') throw decision.error;
        memory = decision.memory;
        if (decision.action === 'fetch') {
          await responseBudget.enter(decision.sizeBytes, job.signal);
          heldBytes = decision.sizeBytes;
        } else if (decision.action === 'bill') {
          await this.#pauseUnpaid(decision.error, job.signal);
        } else {
          if (decision.queue !== undefined) tellQueueState(job, decision.queue);
          await this.#wait(decision.wait, startedAtMs, quickAnswers - 1, job.signal);
        }
      }
    } finally {
      if (heldBytes > 0) responseBudget.leave(heldBytes);
      this.#pending -= 1;
    }
  }

  /** Asks once, in the slot taken before; gives the slot back. */
  async #ask<T>(job: PollJob<T>, memory: PollMemory, iteration: number): Promise<PollAnswer> {
    const { http, slots, acceptResult } = this.#parts;
    try {
      const signal = requestSignalOf(job);
      const call = http.request({
        method: 'POST',
        path,
        pool,
        timeoutMs,
        maxRetries: 0,
        body: pollBody(job.requestId, memory.allowMetadataOnly),
        contentType: 'application/json',
        accept: job.decoder.protobuf === undefined ? 'application/json' : acceptResult,
        headers: this.#headers(job, iteration),
        requestType: job.requestType,
        acceptStatus: POLLED_STATUSES,
        parse: whole,
        signal,
      });
      // The promise of the whole result is a native one; awaiting the call itself, a thenable, takes three more steps of the queue.
      return answerOfResponse((await call.withMetadata()).data);
    } catch (error) {
      if (requestSignalOf(job)?.aborted) throw error;
      return answerOfError(error);
    } finally {
      slots.leave();
    }
  }

  #headers<T>(job: PollJob<T>, iteration: number): Record<string, string> {
    // No spread in front of the fields: on Node 20 that makes the literal many times slower (docs/decisions/0504-spread-last.md).
    const headers: Record<string, string> = {
      'x-tinker-request-iteration': String(iteration),
      'x-tinker-request-type': job.requestType,
    };
    if (iteration === 0 && job.roundtripMs !== undefined) {
      headers['x-tinker-create-promise-roundtrip-time'] = String(job.roundtripMs / 1000);
    }
    return job.headers === undefined ? headers : { ...job.headers, ...headers };
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

  #decode<T>(job: PollJob<T>, result: Extract<PollDecision, { action: 'resolve' }>, iteration: number, begunAtMs: number): T {
    try {
      return decodeResult(job.decoder, result, job.requestType);
    } catch (error) {
      const { onReport, clock } = this.#parts;
      const { requestId, requestType } = job;
      onReport?.(undecodableReport(error, result, { requestId, requestType, iteration, elapsedMs: clock.now() - begunAtMs }));
      throw error;
    }
  }

  #report<T>(job: PollJob<T>, memory: PollMemory, answer: PollAnswer, decision: PollDecision, iteration: number, begunAtMs: number): void {
    const { onReport, clock } = this.#parts;
    if (onReport === undefined) return;
    const { requestId, requestType } = job;
    const report = pollReport(memory, answer, decision, { requestId, requestType, iteration, elapsedMs: clock.now() - begunAtMs });
    if (report !== undefined) onReport(report);
  }

  #publish<T>(job: PollJob<T>, attempt: number, decision: PollDecision, answer: PollAnswer, durationMs: number): void {
    if (!hasSubscribers('tinkex:future:poll')) return;
    const status = answer.kind === 'refusal' ? answer.error.status : answer.kind === 'success' ? 200 : undefined;
    publish('tinkex:future:poll', {
      requestType: job.requestType,
      requestId: job.requestId,
      attempt,
      outcome: outcomeOf(decision, answer),
      durationMs,
      ...this.#parts.source(),
      ...(status === undefined ? {} : { status }),
    });
  }
}

/**
 * What ends a request, or a wait for a slot, before its time; undefined when only the closing of the client can: that ends every request, and so
 * empties the line as well. Signals are made when they are first asked for, and not asking saves one for each call that stands in line.
 */
function requestSignalOf<T>(job: PollJob<T>): AbortSignal | undefined {
  return job.isRequestAbortable === false ? undefined : job.signal;
}

function tellQueueState<T>({ observer, onQueueState, requestId }: PollJob<T>, report: QueueReport): void {
  observer?.queueStateIs(report, requestId);
  onQueueState?.(report, requestId);
}

function outcomeOf(decision: PollDecision, answer: PollAnswer): 'result' | 'pending' | 'metadata' | 'failed' | 'retry' {
  if (decision.action === 'resolve') return 'result';
  if (decision.action === 'reject') return 'failed';
  if (decision.action === 'fetch') return 'metadata';
  const isPending = answer.kind === 'success' || (answer.kind === 'refusal' && answer.error.status === 408);
  return isPending ? 'pending' : 'retry';
}
