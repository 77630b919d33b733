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
import { estimatePromptBytes } from '@tinkex/types/wire';
import type { CallOptions } from '../runtime/call-options.js';
import type { ApiFuture } from '../futures/api-future.js';
import type { Operation, PollObserver } from '../futures/running-call.js';
import type { PollJob } from '../futures/poller.js';
import { resultDecoders } from '../futures/result-decoders.js';
import { StartLine } from './start-queue.js';
import type { Connection } from '../service/connection.js';
import { RetryHandler, type RetryOptions, resolveRetryOptions } from './retries.js';
import { alignPromptLogprobs, ownSettings, promptTokenCount, type SampleInput, type SampleSettings, toModelInput } from './sample-input.js';
import { type SampleSubmitter, type SubmissionScope, submitterOf } from './sample-submitter.js';
import type { SeqIds } from './seq-ids.js';

/** Samples that are always under way, and that start in one turn of the event loop, unless the user says otherwise. */
const DEFAULT_STARTS_PER_TURN = 32;

/** The state of one call over its attempts. */
interface SampleCall {
  readonly prompt: ModelInput;
  readonly settings: SampleSettings;
  readonly operation: Operation;
  readonly headers: CallOptions['headers'];
  /** Taken at the first attempt and kept over the others. */
  seqId?: number | bigint;
  /** The promise that was lost last. */
  lostRequestId?: string;
  requestId?: string;
  failures: number;
}

/** Makes the sampling calls of one client: concurrency, numbers, submission, polling, retries, events. */
export class SampleCalls {
  readonly #connection: Connection;
  readonly #samplingSessionId: string;
  readonly #seqIds: SeqIds;
  readonly #submitter: SampleSubmitter;
  readonly #line: StartLine;
  readonly #retry: RetryHandler | undefined;

  constructor(connection: Connection, samplingSessionId: string, seqIds: SeqIds, retry: boolean | RetryOptions) {
    const { config, limits, clock, random } = connection;
    this.#connection = connection;
    this.#samplingSessionId = samplingSessionId;
    this.#seqIds = seqIds;
    this.#submitter = submitterOf(connection);
    const maxCalls = limits.maxConcurrentSamples ?? config.sampleMaxConcurrentRequests;
    if (maxCalls < 1) throw noCallsAllowed(maxCalls);
    this.#line = new StartLine(maxCalls, limits.maxSampleStartsPerTurn ?? DEFAULT_STARTS_PER_TURN);
    if (retry !== false) {
      const options = resolveRetryOptions(retry === true ? {} : retry, config.sampleEnableStuckDetection);
      this.#retry = new RetryHandler(options, clock, random);
    }
  }

  /** Starts a call. `isAlwaysRetried`: the server's flag that turns retries of `sample` off does not apply. */
  start<T>(input: SampleInput, options: CallOptions, finish: (response: SampleResponse) => T, isAlwaysRetried: boolean): ApiFuture<T> {
    const isRepeated = isAlwaysRetried || !this.#connection.config.sampleNoRetries;
    const headers = options.headers && { ...options.headers };
    let prompt: ModelInput;
    let settings: SampleSettings;
    try {
      prompt = toModelInput(input.prompt);
      settings = ownSettings(input);
    } catch (error) {
      // Refused now, not when its turn comes.
      return this.#connection.startOperation({ requestType: 'Sample', run: () => Promise.reject(error) }, options);
    }
    return this.#connection.startOperation(
      {
        requestType: 'Sample',
        line: this.#line,
        run: (operation) => this.#run({ prompt, settings, operation, headers, failures: 0 }, isRepeated, finish),
      },
      options,
    );
  }

  async #run<T>(call: SampleCall, isRepeated: boolean, finish: (response: SampleResponse) => T): Promise<T> {
    try {
      const response = await this.#perform(call, isRepeated);
      const result = finish(response);
      if (hasSubscribers('tinkex:sampling:call')) this.#publish(call, response, undefined);
      return result;
    } catch (error) {
      if (hasSubscribers('tinkex:sampling:call')) this.#publish(call, undefined, reasonOf(call.operation, error));
      throw error;
    }
  }

  #perform(call: SampleCall, isRepeated: boolean): Promise<SampleResponse> {
    const retry = this.#retry;
    if (retry === undefined) return this.#attempt(call, call.operation);
    if (!isRepeated) return retry.runOnce((failed) => this.#attempt(call, call.operation, failed));
    return retry.run(
      (signal, failed) => this.#attempt(call, { signal, requestSignal: signal }, failed),
      call.operation.signal,
      (error, isRetried) => {
        this.#reportFailure(call, error, isRetried);
        if (!isRetried) return;
        call.failures += 1;
        this.#noteLoss(call, error, retry.options.seqIdAfterLoss);
      },
    );
  }

  async #attempt(call: SampleCall, scope: SubmissionScope, failed?: (error: unknown) => void): Promise<SampleResponse> {
    const { operation, headers, prompt } = call;
    const startedAtMs = this.#connection.clock.now();
    const requestId = await this.#submit(call, scope, failed);
    call.requestId = requestId;
    operation.accepted([requestId]);
    const roundtripMs = this.#connection.clock.now() - startedAtMs;
    const response = await this.#connection.poll(new SamplePollJob(requestId, roundtripMs, scope, operation.observer, headers));
    return response.promptLogprobs === undefined ? response : alignPromptLogprobs(response, promptTokenCount(prompt));
  }

  /** A function of its own, so that a pending call does not keep its request. */
  #submit(call: SampleCall, scope: SubmissionScope, failed: ((error: unknown) => void) | undefined): Promise<string> {
    const { settings, prompt, headers } = call;
    call.seqId ??= this.#seqIds.next();
    const submission = {
      request: {
        prompt,
        numSamples: settings.numSamples,
        samplingParams: settings.samplingParams,
        samplingSessionId: this.#samplingSessionId,
        seqId: call.seqId,
        promptLogprobs: settings.promptLogprobs,
        topkPromptLogprobs: settings.topkPromptLogprobs,
      },
      estimatedBytes: estimatePromptBytes(prompt),
      scope,
      headers,
    };
    if (this.#retry === undefined) return this.#submitter.submitOnce(submission);
    const onFailure = (error: unknown): void => {
      failed?.(error);
      call.failures += 1;
    };
    return this.#submitter.submitPatiently({ ...submission, onFailure });
  }

  #reportFailure({ failures, operation: { startedAtMs } }: SampleCall, error: unknown, isRetried: boolean): void {
    const nowMs = this.#connection.clock.now();
    this.#connection.report(samplingRetryReport({ operation: 'sample', error, isRetried, attempt: failures + 1, startedAtMs, nowMs }));
  }

  /** Decides which number the next attempt carries after a lost promise. */
  #noteLoss(call: SampleCall, error: unknown, seqIdAfterLoss: 'same' | 'new'): void {
    if (!FutureExpiredError.isInstance(error)) return;
    // A server that gives the same lost promise for the same number would do so for ever.
    if (seqIdAfterLoss === 'new' || call.requestId === call.lostRequestId) delete call.seqId;
    if (call.requestId !== undefined) call.lostRequestId = call.requestId;
  }

  #publish(call: SampleCall, response: SampleResponse | undefined, error: unknown): void {
    publish('tinkex:sampling:call', {
      requestType: 'Sample',
      samplingSessionId: this.#samplingSessionId,
      promptTokens: promptTokenCount(call.prompt) ?? 0,
      samples: call.settings.numSamples,
      sampledTokens: response?.sequences.reduce((sum, { tokens }) => sum + tokens.length, 0) ?? 0,
      attempt: call.failures,
      durationMs: this.#connection.clock.now() - call.operation.startedAtMs,
      ...this.#connection.source(),
      ...(call.requestId === undefined ? {} : { requestId: call.requestId }),
      ...(this.#connection.publishesContent && response !== undefined ? { content: contentOf(call.prompt, response) } : {}),
      ...(error === undefined ? {} : { errorCode: TinkexError.isInstance(error) ? error.code : 'UNKNOWN' }),
    });
  }
}

/** Why the call failed, as its future tells it: to the requests, a time limit is an abort like any other. */
function reasonOf({ signal }: Operation, error: unknown): unknown {
  return signal.aborted ? signal.reason : error;
}

/** Without it every call would stand in line for ever. */
function noCallsAllowed(limit: number): ConfigurationError {
  return new ConfigurationError({
    message: `The server's sample_max_concurrent_requests is ${limit}, which allows no sampling at all. Set limits.maxConcurrentSamples to sample nevertheless.`,
    option: 'limits.maxConcurrentSamples',
  });
}

/** Text only: images and audio have no tokens of their own. */
function contentOf(prompt: ModelInput, { sequences }: SampleResponse): NonNullable<SamplingCallEvent['content']> {
  const text = prompt.chunks.flatMap((chunk) => (chunk.type === 'encoded_text' ? [...chunk.tokens] : []));
  return { prompt: text, sequences: sequences.map(({ tokens }) => tokens) };
}

/** The polling of one sample. A class, because its signal is made when somebody asks for it: a getter in a literal would be defined anew for each call. */
class SamplePollJob implements PollJob<SampleResponse> {
  readonly requestType = 'Sample';
  readonly decoder = resultDecoders.Sample;
  readonly requestId: string;
  readonly roundtripMs: number;
  readonly isRequestAbortable: boolean;
  readonly observer: PollObserver;
  readonly headers?: Readonly<Record<string, string>>;
  readonly #scope: SubmissionScope;

  constructor(requestId: string, roundtripMs: number, scope: SubmissionScope, observer: PollObserver, headers: CallOptions['headers']) {
    this.requestId = requestId;
    this.roundtripMs = roundtripMs;
    this.isRequestAbortable = scope.requestSignal !== undefined;
    this.observer = observer;
    if (headers !== undefined) this.headers = headers;
    this.#scope = scope;
  }

  get signal(): AbortSignal {
    return this.#scope.signal;
  }
}
