import {
  elapsedMs,
  type HttpClient,
  type HttpResult,
  hasSubscribers,
  type MonotonicTime,
  publish,
  type RawResponse,
  sleep,
} from '@tinkex/http';
import { encodeText } from '@tinkex/http/runtime';
import type { ClientReport } from '@tinkex/telemetry/reporter';
import type { ApiStatusError, TinkexError } from '@tinkex/types';
import { endpoints, type QueueReport, stringifyJson } from '@tinkex/types/wire';
import { statusOf } from '../calls/attempt-failure.js';
import type { AdmissionQueue } from '../limits/admission-queue.js';
import { BILLING_PAUSE_MS, type BillingPause } from '../limits/billing-pause.js';
import type { CallOptions } from '../runtime/call-options.js';
import { noteFailedAttempt } from '../runtime/failed-attempts.js';
import type { Runtime } from '../runtime/runtime.js';
import {
  answerOfError,
  answerOfResponse,
  decidePoll,
  FIRST_POLL,
  HELD_ANSWER_MS,
  type PollAnswer,
  type PollDecision,
  type PollMemory,
  type PollWait,
  pollFloorMs,
} from './poll-decision.js';
import { pollReport, undecodableReport } from './poll-report.js';
import { decodeResult, type ResultDecoder } from './result-decoders.js';

/** What ends a job. A `CallScope` is one. */
export interface PollScope {
  /** Ends waits. */
  readonly signal: AbortSignal;
  /**
   * Ends requests, and waits for a slot. Undefined when only the closing of the client can end them: closing ends every request, and so
   * empties the queue of slots. Signals are created on first use, and this saves one for each queued call.
   */
  readonly requestSignal: AbortSignal | undefined;
}

/** Receives what polls of one job show. */
export interface PollObserver {
  /** The call in events. */
  readonly callId: number;
  /** A poll was answered. */
  polled(): void;
  /** The server reported a queue state, changed or not. */
  queueStateIs(report: QueueReport, requestId: string): void;
}

/** One request whose result is waited for. */
export interface PollJob<T> {
  readonly requestId: string;
  /** The operation's name in the protocol. */
  readonly requestType: string;
  readonly decoder: ResultDecoder<T>;
  /** Ends the polling with `AbortedError`; the operation continues on the server. */
  readonly scope: PollScope;
  readonly observer: PollObserver;
  /** From the call to the first poll; sent to the server with the first poll. */
  readonly roundtripMs?: number;
  readonly headers?: CallOptions['headers'];
  /** The size of the result, if it exists already and the server has named it: it is requested directly. */
  readonly sizeBytes?: number | undefined;
}

/** What the polls of one connection share. */
export interface PollerParts extends Pick<Runtime, 'clock' | 'source'> {
  readonly http: HttpClient;
  readonly billingPause: BillingPause;
  /** Room for large results. */
  readonly responseBudget: AdmissionQueue;
  /** Polls in flight at the same time. */
  readonly slots: AdmissionQueue;
  /** The `Accept` header for results that exist as protobuf. */
  readonly accept: string;
  /** Receives what the service should know about failed polls. */
  readonly onReport?: (report: ClientReport) => void;
}

const { path, pool, timeoutMs: attemptTimeoutMs } = endpoints.retrieveFuture;

/** The ordinary "not yet", which the loop reads itself. */
const POLLED_STATUSES = [408] as const;
const keepResponse = (response: RawResponse): RawResponse => response;

/** Polls requests until they have a result. */
export class Poller {
  readonly #parts: PollerParts;
  #pending = 0;

  constructor(parts: PollerParts) {
    this.#parts = parts;
  }

  /** How many requests are being waited for. */
  get pending(): number {
    return this.#pending;
  }

  /** @throws `RequestFailedError`, `FutureExpiredError`, `ApiStatusError`, `ValidationError`, or `AbortedError`. */
  async poll<T>(job: PollJob<T>): Promise<T> {
    const { clock, responseBudget, slots } = this.#parts;
    let memory = FIRST_POLL;
    let quickAnswers = 0;
    let heldBytes = 0;
    const begunAt = clock.monotonicMs();
    const { sizeBytes = 0 } = job;
    this.#pending += 1;
    try {
      if (sizeBytes > 0) {
        if (!responseBudget.tryEnter(sizeBytes)) await responseBudget.enter(sizeBytes, job.scope.signal);
        heldBytes = sizeBytes;
        memory = { ...FIRST_POLL, allowMetadataOnly: false };
      }
      // One frame for the whole job: tens of thousands may be pending, and each frame holds its variables.
      for (let iteration = 0; ; iteration += 1) {
        if (!slots.tryEnter()) await slots.enter(1, job.scope.requestSignal, !memory.allowMetadataOnly);
        const startedAt = clock.monotonicMs();
        let answer: PollAnswer;
        try {
          answer = answerOfResponse((await this.#send(job, memory, iteration)).data);
        } catch (error) {
          if (job.scope.requestSignal?.aborted) throw error;
          answer = answerOfError(error);
        } finally {
          slots.leave();
        }
        const heldMs = elapsedMs(clock, startedAt);
        quickAnswers = heldMs >= HELD_ANSWER_MS ? 0 : quickAnswers + 1;
        const decision = decidePoll(memory, answer, job.requestId, job.requestType);
        this.#publish(job, iteration, decision, answer, heldMs);
        this.#report(job, memory, answer, decision, iteration, begunAt);
        if (answer.kind !== 'success') noteRefusedPoll(job.scope.requestSignal, answer.error);
        job.observer.polled();
        if (decision.action === 'resolve') return this.#decode(job, decision, iteration, begunAt);
        if (decision.action === 'reject') throw decision.error;
        memory = decision.memory;
        if (decision.action === 'fetch') {
          await responseBudget.enter(decision.sizeBytes, job.scope.signal);
          heldBytes = decision.sizeBytes;
        } else await this.#pause(job, decision, startedAt, quickAnswers - 1);
      }
    } finally {
      if (heldBytes > 0) responseBudget.leave(heldBytes);
      this.#pending -= 1;
    }
  }

  /** Sends one poll. A native promise: awaiting the call itself, a thenable, takes three more turns of the microtask queue. */
  #send<T>(job: PollJob<T>, memory: PollMemory, iteration: number): Promise<HttpResult<RawResponse>> {
    const { http, accept } = this.#parts;
    const call = http.request({
      method: 'POST',
      path,
      pool,
      attemptTimeoutMs,
      maxRetries: 0,
      body: pollBody(job.requestId, memory.allowMetadataOnly),
      contentType: 'application/json',
      accept: job.decoder.protobuf === undefined ? 'application/json' : accept,
      headers: this.#headers(job, iteration),
      requestType: job.requestType,
      callId: job.observer.callId,
      acceptStatus: POLLED_STATUSES,
      parse: keepResponse,
      signal: job.scope.requestSignal,
    });
    return call.withMetadata();
  }

  #headers<T>(job: PollJob<T>, iteration: number): Record<string, string> {
    // No spread before the fields: on Node 20 that makes the literal many times slower (docs/decisions/0504-spread-last.md).
    const headers: Record<string, string> = {
      'x-tinker-request-iteration': String(iteration),
      'x-tinker-request-type': job.requestType,
    };
    if (iteration === 0 && job.roundtripMs !== undefined) {
      headers['x-tinker-create-promise-roundtrip-time'] = String(job.roundtripMs / 1000);
    }
    return job.headers === undefined ? headers : { ...job.headers, ...headers };
  }

  #pause<T>(
    { observer, requestId, scope }: PollJob<T>,
    decision: Extract<PollDecision, { action: 'bill' | 'repoll' }>,
    startedAt: MonotonicTime,
    quickAnswers: number,
  ): Promise<void> {
    if (decision.action === 'bill') return this.#pauseUnpaid(decision.error, scope.signal);
    if (decision.queue !== undefined) observer.queueStateIs(decision.queue, requestId);
    return this.#wait(decision.wait, startedAt, quickAnswers, scope.signal);
  }

  async #wait(wait: PollWait, startedAt: MonotonicTime, quickAnswers: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const sinceStartMs = elapsedMs(clock, startedAt);
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

  #decode<T>(job: PollJob<T>, result: Extract<PollDecision, { action: 'resolve' }>, iteration: number, begunAt: MonotonicTime): T {
    try {
      return decodeResult(job.decoder, result, job.requestType);
    } catch (error) {
      const { onReport, clock } = this.#parts;
      const { requestId, requestType } = job;
      onReport?.(undecodableReport(error, result, { requestId, requestType, iteration, elapsedMs: elapsedMs(clock, begunAt) }));
      throw error;
    }
  }

  #report<T>(
    job: PollJob<T>,
    memory: PollMemory,
    answer: PollAnswer,
    decision: PollDecision,
    iteration: number,
    begunAt: MonotonicTime,
  ): void {
    const { onReport, clock } = this.#parts;
    const isOrdinary = answer.kind === 'success' && decision.action !== 'reject';
    if (onReport === undefined || isOrdinary) return;
    const { requestId, requestType } = job;
    const report = pollReport(memory, answer, decision, { requestId, requestType, iteration, elapsedMs: elapsedMs(clock, begunAt) });
    if (report !== undefined) onReport(report);
  }

  #publish<T>(job: PollJob<T>, attempt: number, decision: PollDecision, answer: PollAnswer, durationMs: number): void {
    if (!hasSubscribers('tinkex:future:poll')) return;
    const status = answer.kind === 'refusal' ? answer.error.status : answer.kind === 'success' ? 200 : undefined;
    publish('tinkex:future:poll', {
      requestType: job.requestType,
      callId: job.observer.callId,
      requestId: job.requestId,
      attempt,
      outcome: outcomeOf(decision, answer),
      durationMs,
      status,
      ...this.#parts.source(),
    });
  }
}

/** A 408 is the ordinary "not yet". */
function noteRefusedPoll(signal: AbortSignal | undefined, error: TinkexError): void {
  const status = statusOf({ error });
  if (status !== 408) noteFailedAttempt(signal, error, status);
}

const ID_MARK = 'request-id-mark';
const BODY_TEXTS = new Map<boolean, readonly [before: string, after: string]>();

/** The JSON of one poll. The codec writes the text around the request ID once: polls differ in nothing else. */
export function pollBody(requestId: string, allowMetadataOnly: boolean): Uint8Array {
  let text = BODY_TEXTS.get(allowMetadataOnly);
  if (text === undefined) {
    const whole = stringifyJson(endpoints.retrieveFuture.request.encode({ requestId: ID_MARK, allowMetadataOnly }));
    const [before = '', after = ''] = whole.split(JSON.stringify(ID_MARK));
    text = [before, after];
    BODY_TEXTS.set(allowMetadataOnly, text);
  }
  return encodeText(text[0] + JSON.stringify(requestId) + text[1]);
}

function outcomeOf(decision: PollDecision, answer: PollAnswer): 'result' | 'pending' | 'metadata' | 'failed' | 'retry' {
  if (decision.action === 'resolve') return 'result';
  if (decision.action === 'reject') return 'failed';
  if (decision.action === 'fetch') return 'metadata';
  const isPending = answer.kind === 'success' || (answer.kind === 'refusal' && answer.error.status === 408);
  return isPending ? 'pending' : 'retry';
}
