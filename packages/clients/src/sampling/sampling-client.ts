import { type SampleResponse, type Tokenizer, ValidationError } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import { throwIfAborted } from '../runtime/throw-if-aborted.js';
import type { ApiFuture } from '../futures/api-future.js';
import { waitFor } from '../runtime/wait-for.js';
import type { Connection, SessionConnection } from '../service/connection.js';
import { modelTokenizer } from '../tokenizers/model-tokenizer.js';
import { checkSamplerOptions } from './check-sampler-options.js';
import type { RetryOptions } from './retries.js';
import { SampleCalls } from './sample-call.js';
import type { Prompt, SampleInput } from './sample-input.js';
import { mapConcurrently, type SampleManyItem, type SampleManyOptions, type SampleManySuccess } from './sample-many.js';
import { parseSamplingHandle, type SamplingClientHandle } from './sampling-handle.js';
import { SeqIds } from './seq-ids.js';

/** How to make a {@link SamplingClient}. At least one of `modelPath` and `baseModel` is needed. */
export interface SamplingClientOptions {
  /** Saved weights, `tinker://…`. */
  readonly modelPath?: string;
  /** A base model's name. */
  readonly baseModel?: string;
  /**
   * Whether failed calls are sent again, with the same `seq_id`. Default false: a failure surfaces at once and a 429 also holds back
   * later calls. `true` waits and resends as the reference client does.
   */
  readonly retry?: boolean | RetryOptions;
}

/**
 * Samples from one set of weights. Make it with `service.createSamplingClient(…)`.
 *
 * Calls may be made in any number at once: dispatch limits keep the submissions to what a server takes, and a 429 holds back every
 * client of the process with the same base URL and key until the backoff ends.
 */
export class SamplingClient {
  /** The server's id of this sampler. */
  readonly samplingSessionId: string;
  readonly #connection: Connection;
  readonly #sessionId: string | undefined;
  readonly #calls: SampleCalls;
  #baseModel: Promise<string> | undefined;

  /** @internal Use `service.createSamplingClient` or {@link SamplingClient.fromJSON}. */
  constructor(
    connection: Connection,
    samplingSessionId: string,
    options: Pick<SamplingClientOptions, 'retry'>,
    more: SamplingClientParts = {},
  ) {
    this.samplingSessionId = samplingSessionId;
    this.#connection = connection;
    this.#sessionId = more.sessionId;
    this.#calls = new SampleCalls(connection, samplingSessionId, more.seqIds ?? new SeqIds(), options.retry ?? false);
  }

  /** @internal Creates the sampler on the server. */
  static async create(
    connection: SessionConnection,
    options: SamplingClientOptions,
    callOptions: CallOptions = {},
  ): Promise<SamplingClient> {
    checkSamplerOptions(options);
    const { modelPath, baseModel } = options;
    const { sessionId } = connection;
    const body = {
      sessionId,
      samplingSessionSeqId: connection.nextSamplingSessionSeqId(),
      ...(modelPath === undefined ? {} : { modelPath }),
      ...(baseModel === undefined ? {} : { baseModel }),
    };
    const { samplingSessionId } = await connection.call('createSamplingSession', { body }, callOptions);
    return new SamplingClient(connection, samplingSessionId, options, { sessionId });
  }

  /**
   * Continues a sampling client of another thread or process. Its `seq_id`s start in a block of their own, picked at random, so that
   * they never meet the original's.
   *
   * @param handle - What `toJSON()` or `JSON.stringify` gave there.
   * @param connect - Who to talk as: a `ServiceClient` for the same base URL.
   * @param options - `signal` and `timeoutMs` limit the wait for the connection to start.
   */
  static async fromJSON(
    handle: SamplingClientHandle | string,
    connect: SamplingConnector,
    options: Pick<SamplingClientOptions, 'retry'> & CallOptions = {},
  ): Promise<SamplingClient> {
    const { samplingSessionId, sessionId } = parseSamplingHandle(handle);
    const connection = await connect.samplingConnection(sessionId, options);
    return new SamplingClient(connection, samplingSessionId, options, {
      seqIds: SeqIds.forCopy(),
      ...(sessionId === undefined ? {} : { sessionId }),
    });
  }

  /**
   * Samples sequences that continue a prompt. The work starts by itself, in its turn; await the future for the result.
   *
   * Fails with `RateLimitError` (429, unless retry is on), `ApiStatusError`, `ConnectionError`, `RequestFailedError` when the server
   * could not do it, `AbortedError`.
   */
  sample(input: SampleInput, options: CallOptions = {}): ApiFuture<SampleResponse> {
    return this.#calls.start(input, options, keep, false);
  }

  /**
   * The log-probability of each token of a prompt given those before it; NaN where there is none (the first token).
   */
  computeLogprobs(prompt: Prompt, options: CallOptions = {}): ApiFuture<Float32Array> {
    return this.#calls.start({ prompt, samplingParams: { maxTokens: 1 }, includePromptLogprobs: true }, options, promptLogprobsOf, true);
  }

  /**
   * Samples many inputs, a bounded number at once, and yields each answer as it comes (or in input order). Inputs are read as
   * needed. Leaving the loop, or a failure, aborts the calls under way; with `errors: 'yield'` failures are items instead.
   */
  sampleMany<Input extends SampleInput>(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    options?: SampleManyOptions & { readonly errors?: 'throw' },
  ): AsyncGenerator<SampleManySuccess<Input, SampleResponse>, void, undefined>;
  /** The same with `errors: 'yield'`: a call that fails is an item with its `error`, and the others go on. */
  sampleMany<Input extends SampleInput>(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    options: SampleManyOptions,
  ): AsyncGenerator<SampleManyItem<Input, SampleResponse>, void, undefined>;
  sampleMany<Input extends SampleInput>(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    options: SampleManyOptions = {},
  ): AsyncGenerator<SampleManyItem<Input, SampleResponse>, void, undefined> {
    const { headers, timeoutMs } = options;
    const callOptions = { ...(headers === undefined ? {} : { headers }), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    return mapConcurrently(inputs, (input, signal) => this.sample(input, { ...callOptions, signal }), options);
  }

  /** The base model's name. Asked once, for all callers: one caller's abort or time limit ends only its own wait. */
  async getBaseModel(options: CallOptions = {}): Promise<string> {
    throwIfAborted(options);
    const { headers, ...limits } = options;
    this.#baseModel ??= this.#askBaseModel(headers === undefined ? {} : { headers }).catch((error: unknown) => {
      this.#baseModel = undefined;
      throw error;
    });
    return waitFor(this.#baseModel, this.#connection.clock, limits, 'the name of the base model');
  }

  /** The tokenizer of the base model, loaded as the `ServiceClient`'s options say. */
  getTokenizer(options: CallOptions = {}): Promise<Tokenizer> {
    return modelTokenizer(this.#connection, options, async (step) => ({ modelName: await this.getBaseModel(step) }));
  }

  /** A handle for {@link SamplingClient.fromJSON}. Contains no credential. */
  toJSON(): SamplingClientHandle {
    return {
      kind: 'tinkex.sampling-client',
      version: 1,
      baseUrl: this.#connection.baseUrl,
      samplingSessionId: this.samplingSessionId,
      ...(this.#sessionId === undefined ? {} : { sessionId: this.#sessionId }),
    };
  }

  async #askBaseModel(options: CallOptions): Promise<string> {
    const { baseModel } = await this.#connection.call('getSampler', { params: { samplerId: this.samplingSessionId } }, options);
    return baseModel;
  }
}

/** What a client that was not just created brings along. */
interface SamplingClientParts {
  readonly sessionId?: string;
  readonly seqIds?: SeqIds;
}

/** Gives a connection for a sampler that exists already, and keeps its session alive. A `ServiceClient` is one. */
export interface SamplingConnector {
  samplingConnection(sessionId?: string, options?: CallOptions): Promise<Connection>;
}

function keep(response: SampleResponse): SampleResponse {
  return response;
}

function promptLogprobsOf({ promptLogprobs }: SampleResponse): Float32Array {
  if (promptLogprobs !== undefined) return promptLogprobs;
  const issues = [{ path: 'promptLogprobs', message: 'is missing, although it was asked for' }];
  throw new ValidationError({ direction: 'response', subject: 'SampleResponse', issues });
}
