import { ConfigurationError, NotFoundError, type SampleResponse, type Tokenizer, ValidationError } from '@tinkex/types';
import { showAs } from '@tinkex/types/wire';
import type { ApiFuture } from '../futures/api-future.js';
import type { CallOptions, CallStep } from '../runtime/call-options.js';
import { CallScope } from '../runtime/call-scope.js';
import { SharedWork } from '../runtime/shared-work.js';
import type { TokenizerLibrary } from '../tokenizers/tokenizer-library.js';
import { type RetryOptions, resolveRetryOptions } from './retries.js';
import { startSample } from './sample-call.js';
import type { Prompt, SampleInput } from './sample-input.js';
import { mapConcurrently, type SampleManyItem, type SampleManyOptions, type SampleManySuccess } from './sample-many.js';
import { createSampler, type Sampler, type SamplerIdentity, type SamplerParts } from './sampler.js';
import { parseSamplingHandle, type SamplingClientHandle } from './sampling-handle.js';
import { SeqIds } from './seq-ids.js';

/** Options of a sampling client that exists on the server already. */
export interface SamplerOptions extends CallOptions {
  /**
   * Whether failed samples are sent again, with the same sequence ID. Default false: a failure surfaces immediately, and a 429 also holds
   * back later calls. `true` waits and resends like the reference client.
   */
  readonly retry?: boolean | RetryOptions | undefined;
  /**
   * Whether the server remembers, for each sequence, what the loss `stable_reinforce` needs to train on it later in the same session. Default
   * false. Copies of the client do the same.
   */
  readonly recordStabilityInfo?: boolean | undefined;
}

/** Options of `computeLogprobs`. */
export interface ComputeLogprobsOptions extends CallOptions {
  /** Score only the last n tokens of the prompt; the others get NaN. Default: all. */
  readonly lastN?: number | undefined;
}

/** How to create a {@link SamplingClient}. Set `modelPath` or `baseModel`. */
export interface SamplingClientOptions extends SamplerOptions {
  /** Saved weights, `tinker://…`. */
  readonly modelPath?: string | undefined;
  /** The name of a base model. */
  readonly baseModel?: string | undefined;
}

/** Attaches sampling clients of other threads and processes. A `ServiceClient` is one. */
export interface SamplingService {
  attachSamplingClient(handle: SamplingClientHandle, options?: SamplerOptions): Promise<SamplingClient>;
}

/** A session on the server, as the clients that belong to it use it. */
export interface Session {
  readonly sessionId: string;
  /** The next sequence ID for a new sampler, from 0. */
  nextSamplingSessionSeqId(): number;
}

/** What a sampling client is made of. */
export interface SamplingParts extends SamplerParts {
  readonly tokenizers: TokenizerLibrary;
}

/** Which sampler a client stands for. */
export interface SamplingClientIdentity extends Omit<SamplerIdentity, 'seqIds'> {
  readonly sessionId?: string | undefined;
  /** Default: from 0, for the client that created the sampler. */
  readonly seqIds?: SeqIds | undefined;
  /** The base model that the sampler was created with, for servers that do not describe samplers. */
  readonly baseModel?: string | undefined;
}

/**
 * Samples from one set of weights. Create it with `service.createSamplingClient(…)`.
 *
 * You can start any number of calls at the same time: dispatch limits keep the submissions to what a server accepts, and a 429 holds back
 * every client of the process with the same base URL and key until the backoff ends.
 */
export class SamplingClient {
  /** The server's ID of this sampler. */
  readonly samplingSessionId: string;
  readonly #parts: SamplingParts;
  readonly #sessionId: string | undefined;
  readonly #sampler: Sampler;
  readonly #baseModel: SharedWork<string>;
  readonly #givenBaseModel: string | undefined;

  static {
    showAs(SamplingClient, (client) => ({ samplingSessionId: client.samplingSessionId, sessionId: client.#sessionId }));
  }

  private constructor(parts: SamplingParts, identity: SamplingClientIdentity) {
    const { samplingSessionId, sessionId, seqIds = new SeqIds() } = identity;
    this.samplingSessionId = samplingSessionId;
    this.#parts = parts;
    this.#sessionId = sessionId;
    this.#givenBaseModel = identity.baseModel;
    this.#baseModel = new SharedWork(parts.runtime, { what: 'the name of the base model' });
    this.#sampler = createSampler(parts, { ...identity, seqIds });
  }

  /** @internal */
  static of(parts: SamplingParts, identity: SamplingClientIdentity): SamplingClient {
    return new SamplingClient(parts, identity);
  }

  /** @internal Creates the sampler on the server. */
  static async create(parts: SamplingParts, session: Session, options: SamplingClientOptions): Promise<SamplingClient> {
    checkSamplerOptions(options);
    const { modelPath, baseModel, retry, recordStabilityInfo, ...callOptions } = options;
    const { sessionId } = session;
    const body = { sessionId, samplingSessionSeqId: session.nextSamplingSessionSeqId(), modelPath, baseModel };
    const { samplingSessionId } = await parts.calls.call('createSamplingSession', { body }, callOptions);
    return new SamplingClient(parts, {
      samplingSessionId,
      sessionId,
      retry,
      recordStabilityInfo,
      baseModel,
      model: baseModel ?? modelPath,
    });
  }

  /**
   * Continues a sampling client of another thread or process. Its sequence IDs start in a separate block, assigned by the server or picked
   * at random, so that they never collide with the original's.
   *
   * @param handle - The result of `toJSON()` or `JSON.stringify` there.
   * @param service - A `ServiceClient` for the same base URL.
   */
  static async fromJSON(
    handle: SamplingClientHandle | string,
    service: SamplingService,
    options: SamplerOptions = {},
  ): Promise<SamplingClient> {
    return service.attachSamplingClient(parseSamplingHandle(handle), options);
  }

  /**
   * Samples sequences that continue a prompt. The call starts without being awaited; await the future for the result.
   *
   * Fails with `RateLimitError` (429, unless retry is on), `ApiStatusError`, `ConnectionError`, `RequestFailedError` when the operation
   * failed on the server, `AbortedError`.
   */
  sample(input: SampleInput, options: CallOptions = {}): ApiFuture<SampleResponse> {
    return startSample(this.#sampler, input, options, SAMPLE);
  }

  /** The log-probability of each token of a prompt given those before it; NaN where there is none (the first token). */
  computeLogprobs(prompt: Prompt, options: ComputeLogprobsOptions = {}): ApiFuture<Float32Array> {
    const { lastN: promptLogprobsLastN, ...callOptions } = options;
    const input = { prompt, samplingParams: { maxTokens: 1 }, includePromptLogprobs: true, promptLogprobsLastN };
    return startSample(this.#sampler, input, callOptions, COMPUTE_LOGPROBS);
  }

  /**
   * Samples many inputs, a bounded number at the same time, and yields each answer as it arrives (or in input order). Reads inputs as
   * needed. Leaving the loop, or a failure, aborts the calls in progress; with `errors: 'yield'` failures are items instead.
   */
  sampleMany<Input extends SampleInput>(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    options?: SampleManyOptions & { readonly errors?: 'throw' | undefined },
  ): AsyncGenerator<SampleManySuccess<Input, SampleResponse>, void, undefined>;
  /** The same with `errors: 'yield'`: a call that fails is an item with its `error`, and the others continue. */
  sampleMany<Input extends SampleInput>(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    options: SampleManyOptions,
  ): AsyncGenerator<SampleManyItem<Input, SampleResponse>, void, undefined>;
  async *sampleMany<Input extends SampleInput>(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    options: SampleManyOptions = {},
  ): AsyncGenerator<SampleManyItem<Input, SampleResponse>, void, undefined> {
    const { headers, sampleTimeoutMs: timeoutMs } = options;
    const sample = (input: Input, signal: AbortSignal) => this.sample(input, { headers, timeoutMs, signal });
    yield* mapConcurrently(inputs, sample, options, new CallScope(this.#parts.runtime, options));
  }

  /** The base model's name. Requested once for all callers: one caller's abort or time limit ends only its own wait. */
  async getBaseModel(options: CallOptions = {}): Promise<string> {
    return this.#baseModel.wait((signal) => this.#requestBaseModel({ signal, headers: options.headers }), options);
  }

  /** The tokenizer of the base model, loaded as the options of the `ServiceClient` say. */
  async getTokenizer(options: CallOptions = {}): Promise<Tokenizer> {
    return new CallScope(this.#parts.runtime, options).run(async (signal) => {
      const modelName = await this.getBaseModel({ signal, headers: options.headers });
      return this.#parts.tokenizers.load(modelName, undefined, signal);
    });
  }

  /** A handle for {@link SamplingClient.fromJSON}. Contains no credential. */
  toJSON(): SamplingClientHandle {
    const { baseUrl } = this.#parts.runtime.source();
    const { samplingSessionId } = this;
    const recordStabilityInfo = this.#sampler.recordsStabilityInfo || undefined;
    return { kind: 'tinkex.sampling-client', version: 1, baseUrl, samplingSessionId, sessionId: this.#sessionId, recordStabilityInfo };
  }

  async #requestBaseModel(step: CallStep): Promise<string> {
    const params = { samplerId: this.samplingSessionId };
    try {
      return (await this.#parts.calls.call('getSampler', { params }, { ...step, isScoped: true })).baseModel;
    } catch (error) {
      if (this.#givenBaseModel === undefined || !NotFoundError.isInstance(error)) throw error;
      return this.#givenBaseModel;
    }
  }
}

/** @throws ConfigurationError when no server could create this sampler, or its retry options are invalid. Makes no request. */
export function checkSamplerOptions({ modelPath, baseModel, retry }: SamplingClientOptions): void {
  if (modelPath === undefined && baseModel === undefined) {
    throw new ConfigurationError({ message: 'A sampling client needs modelPath or baseModel.', option: 'modelPath' });
  }
  if (modelPath !== undefined && !modelPath.startsWith('tinker://')) {
    const message = `Option modelPath must start with tinker://, got ${JSON.stringify(modelPath)}.`;
    throw new ConfigurationError({ message, option: 'modelPath' });
  }
  if (typeof retry === 'object') resolveRetryOptions(retry, true);
}

const SAMPLE = { finish: (response: SampleResponse) => response, isAlwaysRetried: false, hasSamples: true };
const COMPUTE_LOGPROBS = { finish: promptLogprobsOf, isAlwaysRetried: true, hasSamples: false };

function promptLogprobsOf({ promptLogprobs }: SampleResponse): Float32Array {
  if (promptLogprobs !== undefined) return promptLogprobs;
  const issues = [{ path: 'promptLogprobs', message: 'is missing, although it was requested' }];
  throw new ValidationError({ direction: 'response', subject: 'SampleResponse', issues });
}
