import { randomInt } from 'node:crypto';
import { hasSubscribers, publish } from '@tinkex/http';
import { samplingRetryReport } from '@tinkex/telemetry/reporter';
import {
  ConfigurationError,
  FutureExpiredError,
  type ModelInput,
  type SampleResponse,
  type SamplingCallEvent,
  TinkexError,
} from '@tinkex/types';
import { type ClientConfigResponse, estimatePromptBytes } from '@tinkex/types/wire';
import { ApiFuture } from '../futures/api-future.js';
import type { Poller, PollScope } from '../futures/poller.js';
import { RESULT_DECODERS } from '../futures/result-decoders.js';
import { RunningCall } from '../futures/running-call.js';
import type { ClientLimits } from '../limits/client-limits.js';
import type { CallOptions } from '../runtime/call-options.js';
import type { Runtime } from '../runtime/runtime.js';
import { type Startable, StartQueue } from './admission.js';
import { type RetryOptions, resolveRetryOptions, SamplingRetries, type SubmissionCount } from './retries.js';
import {
  alignPromptLogprobs,
  copySettings,
  promptTokenCount,
  type SampleInput,
  type SampleSettings,
  toModelInput,
} from './sample-input.js';
import type { SampleSubmitter } from './sample-submitter.js';

/** What all sampling clients of one connection share. */
export interface SamplingShared {
  readonly config: ClientConfigResponse;
  readonly limits: ClientLimits;
  /** Whether events carry prompts and samples. */
  readonly publishesContent: boolean;
  readonly submitter: SampleSubmitter;
}

/** The part of a sampling client that its calls share. */
export interface Sampler {
  readonly runtime: Runtime;
  readonly poller: Poller;
  readonly sampling: SamplingShared;
  readonly samplingSessionId: string;
  readonly seqIds: SeqIds;
  readonly queue: StartQueue;
  readonly retries: SamplingRetries | undefined;
}

/** Samples that are always in progress, and that start in one turn of the event loop, unless `limits` says otherwise. */
const DEFAULT_STARTS_PER_TURN = 32;

/** @throws ConfigurationError when the retry options are invalid, or the server allows no samples at all. */
export function createSampler(
  { runtime, poller, sampling }: Pick<Sampler, 'runtime' | 'poller' | 'sampling'>,
  samplingSessionId: string,
  seqIds: SeqIds,
  retry: boolean | RetryOptions = false,
): Sampler {
  const { config, limits } = sampling;
  const maxCalls = limits.maxConcurrentSamples ?? config.sampleMaxConcurrentRequests;
  if (maxCalls < 1) throw noCallsAllowed(maxCalls);
  const queue = new StartQueue(maxCalls, limits.maxSampleStartsPerTurn ?? DEFAULT_STARTS_PER_TURN);
  const options = retry === false ? undefined : resolveRetryOptions(retry === true ? {} : retry, config.sampleEnableStuckDetection);
  const retries = options && new SamplingRetries(options, runtime.clock, runtime.random);
  return { runtime, poller, sampling, samplingSessionId, seqIds, queue, retries };
}

/** What a kind of sampling call makes of its response. */
export interface SampleKind<T> {
  readonly finish: (response: SampleResponse) => T;
  /** Whether the server's flag against retries of `sample` does not apply. */
  readonly isAlwaysRetried: boolean;
}

/** Starts one sampling call. Copies the input now: callers may change and reuse their objects while the call is queued. */
export function startSample<T>(sampler: Sampler, input: SampleInput, options: CallOptions, kind: SampleKind<T>): ApiFuture<T> {
  const copied = options.headers === undefined ? options : { ...options, headers: { ...options.headers } };
  const call = new RunningCall<T>(sampler.runtime, 'Sample', copied);
  try {
    new SampleCall(sampler, call, toModelInput(input.prompt), copySettings(input), kind).begin();
  } catch (error) {
    call.reject(error);
  }
  return ApiFuture.of(call.core);
}

/** One sampling call: queue, submission, polling, retries, event. An object without closures while queued: there may be tens of thousands. */
class SampleCall<T> implements Startable {
  readonly #sampler: Sampler;
  readonly #call: RunningCall<T>;
  readonly #prompt: ModelInput;
  readonly #settings: SampleSettings;
  readonly #kind: SampleKind<T>;
  /** Taken by the first attempt and kept by the others. */
  #seqId: number | bigint | undefined;
  #requestId: string | undefined;
  /** The request whose result was lost last. */
  #lostRequestId: string | undefined;
  #failures = 0;

  constructor(sampler: Sampler, call: RunningCall<T>, prompt: ModelInput, settings: SampleSettings, kind: SampleKind<T>) {
    this.#sampler = sampler;
    this.#call = call;
    this.#prompt = prompt;
    this.#settings = settings;
    this.#kind = kind;
  }

  /** Starts now if there is room, else joins the queue. */
  begin(): void {
    const { queue } = this.#sampler;
    this.#call.throwIfEnded();
    if (queue.tryEnter()) this.start();
    else {
      queue.join(this);
      // Closing the client admits every call, to fail there.
      this.#call.requestSignal?.addEventListener('abort', () => {
        if (queue.remove(this)) this.#call.reject(this.#call.failure);
      });
    }
  }

  /** No async functions here and below: each pending call would hold their frames. */
  start(): void {
    this.#sample().then(
      (response) => this.#succeed(response),
      (error: unknown) => this.#fail(error),
    );
  }

  #succeed(received: SampleResponse): void {
    let response: SampleResponse;
    let value: T;
    try {
      response = alignPromptLogprobs(received, this.#prompt);
      value = this.#kind.finish(response);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (hasSubscribers('tinkex:sampling:call')) this.#publish(response, undefined);
    this.#sampler.queue.leave();
    this.#call.resolve(value);
  }

  #fail(error: unknown): void {
    // Requests see a time limit as an abort like any other; the event has the reason that the future shows.
    if (hasSubscribers('tinkex:sampling:call')) this.#publish(undefined, this.#call.explain(error));
    this.#sampler.queue.leave();
    this.#call.reject(error);
  }

  #sample(): Promise<SampleResponse> {
    const { retries, sampling } = this.#sampler;
    if (retries === undefined) return this.#attempt(this.#call, undefined);
    const isRetried = this.#kind.isAlwaysRetried || !sampling.config.sampleNoRetries;
    if (!isRetried) return retries.runOnce((submissions) => this.#attempt(this.#call, submissions));
    return retries.run(
      (signal, submissions) => this.#attempt({ signal, requestSignal: signal }, submissions),
      this.#call.signal,
      (error, isFollowed) => this.#noteFailure(error, isFollowed),
    );
  }

  /** Submits the request and waits for its result. */
  #attempt(scope: PollScope, submissions: SubmissionCount | undefined): Promise<SampleResponse> {
    const startedAtMs = this.#sampler.runtime.clock.now();
    return this.#submit(scope, submissions).then((requestId) => this.#poll(requestId, scope, startedAtMs));
  }

  #poll(requestId: string, scope: PollScope, startedAtMs: number): Promise<SampleResponse> {
    const { runtime, poller } = this.#sampler;
    const call = this.#call;
    this.#requestId = requestId;
    call.accept([requestId]);
    return poller.poll({
      requestId,
      requestType: 'Sample',
      decoder: RESULT_DECODERS.Sample,
      scope,
      observer: call.core,
      roundtripMs: runtime.clock.now() - startedAtMs,
      headers: call.headers,
    });
  }

  /** Its frame ends with the submission, so that a pending call does not keep its request. */
  async #submit(scope: PollScope, submissions: SubmissionCount | undefined): Promise<string> {
    const { sampling, samplingSessionId, seqIds } = this.#sampler;
    const { numSamples, samplingParams, promptLogprobs, topkPromptLogprobs } = this.#settings;
    const prompt = this.#prompt;
    this.#seqId ??= seqIds.next();
    const seqId = this.#seqId;
    const submission = {
      request: { prompt, numSamples, samplingParams, samplingSessionId, seqId, promptLogprobs, topkPromptLogprobs },
      estimatedBytes: estimatePromptBytes(prompt),
      scope,
      headers: this.#call.headers,
    };
    if (submissions === undefined) return sampling.submitter.submitOnce(submission);
    return sampling.submitter.submitUntilAccepted(submission, (error) => {
      submissions.addOrThrow(error);
      this.#failures += 1;
    });
  }

  #noteFailure(error: unknown, isRetried: boolean): void {
    const { clock, report } = this.#sampler.runtime;
    const { startedAtMs } = this.#call;
    const attempt = this.#failures + 1;
    report.event(samplingRetryReport({ operation: 'sample', error, isRetried, attempt, startedAtMs, nowMs: clock.now() }));
    if (!isRetried) return;
    this.#failures = attempt;
    if (FutureExpiredError.isInstance(error)) this.#chooseSeqIdAfterLoss();
  }

  #chooseSeqIdAfterLoss(): void {
    const isNew = this.#sampler.retries?.options.seqIdAfterLoss === 'new';
    // A server that answers the same sequence ID with the same lost result would do so forever.
    if (isNew || this.#requestId === this.#lostRequestId) this.#seqId = undefined;
    this.#lostRequestId = this.#requestId ?? this.#lostRequestId;
  }

  #publish(response: SampleResponse | undefined, error: unknown): void {
    const { runtime, sampling, samplingSessionId } = this.#sampler;
    const content = sampling.publishesContent && response !== undefined ? contentOf(this.#prompt, response) : undefined;
    publish('tinkex:sampling:call', {
      requestType: 'Sample',
      samplingSessionId,
      promptTokens: promptTokenCount(this.#prompt) ?? 0,
      samples: this.#settings.numSamples,
      sampledTokens: response?.sequences.reduce((sum, { tokens }) => sum + tokens.length, 0) ?? 0,
      attempt: this.#failures,
      durationMs: runtime.clock.now() - this.#call.startedAtMs,
      requestId: this.#requestId,
      content,
      errorCode: error === undefined ? undefined : TinkexError.isInstance(error) ? error.code : 'UNKNOWN',
      ...runtime.source(),
    });
  }
}

/** Without this error every call would wait forever. */
function noCallsAllowed(limit: number): ConfigurationError {
  return new ConfigurationError({
    message: `The server's limit on concurrent samples is ${limit}, which allows no sampling at all. Set limits.maxConcurrentSamples to sample nevertheless.`,
    option: 'limits.maxConcurrentSamples',
  });
}

/** Text only: images and audio have no tokens. */
function contentOf(prompt: ModelInput, { sequences }: SampleResponse): NonNullable<SamplingCallEvent['content']> {
  const text = prompt.chunks.flatMap((chunk) => (chunk.type === 'encoded_text' ? [...chunk.tokens] : []));
  return { prompt: text, sequences: sequences.map(({ tokens }) => tokens) };
}

const BLOCK = 1_000_000_000n;

/** Hands out the sequence IDs of one sampling client. Values above 2^53 stay exact as `bigint`. */
export class SeqIds {
  #next: number | bigint;

  /** @param first - 0 for the client that created the sampling session; see {@link SeqIds.forCopy} for others. */
  constructor(first: number | bigint = 0) {
    this.#next = first;
  }

  /**
   * For another holder of the same sampling session (a worker thread, another process): starts in one of a thousand million blocks of
   * IDs, picked at random, none of which is the creator's.
   */
  static forCopy(block: number = randomInt(Number(BLOCK))): SeqIds {
    return new SeqIds(BLOCK * (BigInt(block) + 1n));
  }

  next(): number | bigint {
    const id = this.#next;
    this.#next = typeof id === 'bigint' ? id + 1n : id + 1;
    return id;
  }
}
