import {
  type AdamParams,
  type Datum,
  type ForwardBackwardOutput,
  type GetInfoResponse,
  type LoadWeightsResponse,
  type LossFnType,
  type OptimStepResponse,
  type SaveWeightsResponse,
  type Tokenizer,
  type UnloadModelResponse,
  ValidationError,
} from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import type { ApiFuture } from '../futures/api-future.js';
import { SamplingClient, type SamplingClientOptions } from '../sampling/sampling-client.js';
import type { SessionConnection } from '../service/connection.js';
import { modelTokenizer } from '../tokenizers/model-tokenizer.js';
import { type CustomForwardBackwardOutput, type CustomLoss, startCustomPass } from './custom-loss.js';
import { runForwardPass } from './passes.js';
import { ModelOperations } from './model-operations.js';
import { planPass } from './pass-plan.js';
import { saveSamplerWeights, saveTrainingState } from './saves.js';
import type {
  LoadStateOptions,
  PassOptions,
  SavedSamplerWeights,
  SaveStateOptions,
  SaveWeightsForSamplerOptions,
} from './training-options.js';

/**
 * Trains one model. Made by `service.createLoraTrainingClient(…)` and its siblings.
 *
 * Methods that return an `ApiFuture` start at once: the place of the operation in the sequence is taken when the method is
 * called, so operations reach the server in the order of the calls whether or not they are awaited in between. Do not
 * change the data of a call before it is `submitted()`.
 *
 * An operation that fails does not stop those called after it: they are sent and run as if it had done nothing. To make an
 * optimizer step depend on a pass, await the pass (or at least its `submitted()`) first.
 */
export class TrainingClient {
  readonly #model: ModelOperations;

  /** @internal Use `service.createLoraTrainingClient` or one of its siblings. */
  constructor(connection: SessionConnection, modelId: string) {
    this.#model = new ModelOperations(connection, modelId);
  }

  /** The model's id on the server, which is also the id of its training run. */
  get modelId(): string {
    return this.#model.modelId;
  }

  /** A forward pass: the loss function's outputs and metrics, no gradients. */
  forward(data: readonly Datum[], lossFn: LossFnType, options: PassOptions = {}): ApiFuture<ForwardBackwardOutput> {
    return this.#pass(data, lossFn, true, options);
  }

  /**
   * A forward and a backward pass; the gradients are added to those accumulated since the last optimizer step. Large data are
   * split into chunks as the server wants it, and their results put together in data order.
   *
   * If a chunk is refused the call fails and says which. Chunks accepted before keep their gradients on the server until the
   * next `optimStep` or load; operations called later go on.
   */
  forwardBackward(data: readonly Datum[], lossFn: LossFnType, options: PassOptions = {}): ApiFuture<ForwardBackwardOutput> {
    return this.#pass(data, lossFn, false, options);
  }

  /**
   * A forward pass, your own loss in this process, and a backward pass with its gradients. Both passes have their places in the
   * sequence from the start: an `optimStep` called right after this one runs after the gradients are there.
   *
   * @param data - With `targetTokens` and, if wanted for the forward pass, `weights`; nothing else.
   * @param loss - Gets the data and their logprobs; gives the loss, its gradient with respect to each logprob, and metrics.
   *   With `@tinkex/clients/autodiff` the gradient is taken for you.
   */
  forwardBackwardCustom(data: readonly Datum[], loss: CustomLoss, options: CallOptions = {}): ApiFuture<CustomForwardBackwardOutput> {
    return startCustomPass(this.#model, data, loss, options);
  }

  /** Applies the accumulated gradients with AdamW and clears them. */
  optimStep(adamParams: AdamParams = {}, options: CallOptions = {}): ApiFuture<OptimStepResponse> {
    const { modelId } = this;
    const startedAtMs = this.#model.connection.clock.now();
    // A schedule may keep one object and change it for the next step, while this step still waits for its turn.
    const params = { ...adamParams };
    return this.#model.start(
      {
        requestType: 'OptimStep',
        endpoint: 'optimStep',
        body: (seqId) => ({ adamParams: params, modelId, seqId }),
        finish: (result, requestId) => {
          const metrics = result.metrics ?? {};
          this.#model.publishOperation({ requestType: 'OptimStep', requestId, datums: 0, tokens: 0, metrics, startedAtMs });
          return result;
        },
      },
      options,
    );
  }

  /**
   * Saves weights and optimizer state under a name. A save whose answer was lost is looked up before it is given up: it is
   * never made twice, and never reported as failed when it is there.
   */
  saveState(name: string, options: SaveStateOptions = {}): ApiFuture<SaveWeightsResponse> {
    return saveTrainingState(this.#model, name, options);
  }

  /** Replaces the weights; the optimizer starts afresh. Accumulated gradients are dropped. */
  loadState(path: string, options: LoadStateOptions = {}): ApiFuture<LoadWeightsResponse> {
    return this.#load(path, false, options);
  }

  /** Replaces the weights and the optimizer's state: training goes on exactly where the checkpoint was saved. */
  loadStateWithOptimizer(path: string, options: LoadStateOptions = {}): ApiFuture<LoadWeightsResponse> {
    return this.#load(path, true, options);
  }

  /** Saves the weights under a name, to sample from. */
  saveWeightsForSampler(name: string, options: SaveWeightsForSamplerOptions = {}): ApiFuture<SavedSamplerWeights> {
    return saveSamplerWeights(this.#model, name, options);
  }

  /** Makes a sampling client of the present weights, without a name: they are kept only for it. */
  async saveWeightsAndGetSamplingClient(options: Pick<SamplingClientOptions, 'retry'> & CallOptions = {}): Promise<SamplingClient> {
    const { connection, modelId } = this.#model;
    const samplingSessionId = await this.#model.start(
      {
        requestType: 'SaveWeightsForSampler',
        endpoint: 'saveWeightsForSampler',
        body: (seqId) => ({ modelId, seqId, samplingSessionSeqId: connection.nextSamplingSessionSeqId() }),
        // Each attempt takes a new number for the sampler, while the operation's own number stays.
        submit: ({ makeBody, options: callOptions }) =>
          connection.retry(() => connection.call('saveWeightsForSampler', { body: makeBody() }, { ...callOptions, hasOuterRetry: false }), {
            operation: 'saveWeightsForSampler',
            ...(callOptions.signal === undefined ? {} : { signal: callOptions.signal }),
          }),
        finish: ({ samplingSessionId: id }) => id ?? missing('samplingSessionId'),
      },
      options,
    );
    return new SamplingClient(connection, samplingSessionId, options, { sessionId: connection.sessionId });
  }

  /** Makes a sampling client of saved weights. */
  createSamplingClient(modelPath: string, options: Pick<SamplingClientOptions, 'retry'> & CallOptions = {}): Promise<SamplingClient> {
    return SamplingClient.create(this.#model.connection, { ...options, modelPath }, options);
  }

  /** What the server knows about the model. */
  getInfo(options: CallOptions = {}): Promise<GetInfoResponse> {
    return this.#model.connection.call('getInfo', { body: { modelId: this.modelId } }, options);
  }

  /** The tokenizer of the base model. */
  getTokenizer(options: CallOptions = {}): Promise<Tokenizer> {
    return modelTokenizer(this.#model.connection, options, async (step) => {
      const { modelData, modelName } = await this.getInfo(step);
      return { modelName: modelData.modelName ?? modelName ?? missing('modelData.modelName'), tokenizerId: modelData.tokenizerId };
    });
  }

  /** Unloads the model after everything called before. The client is of no use afterwards. */
  unload(options: CallOptions = {}): ApiFuture<UnloadModelResponse> {
    const { modelId } = this;
    return this.#model.start(
      { requestType: 'UnloadModel', endpoint: 'unloadModel', seqIds: 0, body: () => ({ modelId }), finish: (result) => result },
      options,
    );
  }

  #pass(data: readonly Datum[], lossFn: LossFnType, isForwardOnly: boolean, given: PassOptions): ApiFuture<ForwardBackwardOutput> {
    const model = this.#model;
    // As for an optimizer step: the numbers are those of the moment of the call.
    const options = given.lossFnConfig === undefined ? given : { ...given, lossFnConfig: { ...given.lossFnConfig } };
    return model.connection.startOperation(
      {
        requestType: isForwardOnly ? 'Forward' : 'ForwardBackward',
        // Runs within this call up to its first await: the plan is made and the numbers are taken synchronously.
        run: async (operation) => {
          const plan = planPass(data, model.connection.config);
          const turn = model.turns.reserve(plan.chunks.length);
          return runForwardPass(model, operation, { plan, turn, lossFn, isForwardOnly, options });
        },
      },
      options,
    );
  }

  #load(path: string, optimizer: boolean, options: LoadStateOptions): ApiFuture<LoadWeightsResponse> {
    const { modelId } = this;
    const { weightsAccessToken } = options;
    const startedAtMs = this.#model.connection.clock.now();
    const token = weightsAccessToken === undefined ? {} : { weightsAccessToken };
    return this.#model.start(
      {
        requestType: 'LoadWeights',
        endpoint: 'loadWeights',
        body: (seqId) => ({ modelId, seqId, path, optimizer, ...token }),
        finish: (result) => {
          this.#model.publishCheckpoint('tinkex:checkpoint:load', 'LoadWeights', path, startedAtMs);
          return result;
        },
      },
      options,
    );
  }
}

function missing(field: string): never {
  throw new ValidationError({ direction: 'response', subject: 'result', issues: [{ path: field, message: 'is missing' }] });
}
