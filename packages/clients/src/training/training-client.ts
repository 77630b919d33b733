import {
  consoleUrls,
  type Datum,
  type ForwardBackwardOutput,
  type GetInfoResponse,
  type LoadWeightsResponse,
  type LossFnType,
  type OptimizerConfig,
  type OptimizerFamily,
  type OptimStepResponse,
  type SaveWeightsResponse,
  type Tokenizer,
  type UnloadModelResponse,
  ValidationError,
} from '@tinkex/types';
import { showAs } from '@tinkex/types/wire';
import type { ApiFuture } from '../futures/api-future.js';
import { type OngoingCall, RunningCall } from '../futures/running-call.js';
import type { CallOptions } from '../runtime/call-options.js';
import { CallScope } from '../runtime/call-scope.js';
import { type SamplerOptions, SamplingClient } from '../sampling/sampling-client.js';
import { type CustomForwardBackwardOutput, type CustomLoss, runCustomPass } from './custom-loss.js';
import { LossHandle } from './loss-handle.js';
import { pollResult, submitOperation, TrainedModel, type TrainingParts } from './operations.js';
import { type OptimStepParams, stepSettings } from './optimizer-settings.js';
import { type Pass, runPass } from './passes.js';
import { runLossHandle } from './run-loss-handle.js';
import { Saves } from './saves.js';
import type {
  LoadStateOptions,
  PassOptions,
  SavedExternalWeights,
  SavedSamplerWeights,
  SaveStateOptions,
  SaveWeightsExternalOptions,
  SaveWeightsForSamplerOptions,
} from './training-options.js';

/**
 * Trains one model. Create it with `service.createLoraTrainingClient(…)` or one of its siblings.
 *
 * Methods that return an `ApiFuture` start immediately: they reserve the operation's sequence ID when you call them, so operations reach
 * the server in the order of the calls whether or not you await them in between. Do not change the data of a call before it is
 * `submitted()`.
 *
 * An operation that fails does not stop those called after it: they are sent and run as if it had done nothing. To make an optimizer step
 * depend on a pass, await the pass (or at least its `submitted()`) first.
 *
 * @typeParam Family - The model's optimizer, which decides what `optimStep` takes.
 */
export class TrainingClient<Family extends OptimizerFamily = OptimizerFamily> {
  readonly #model: TrainedModel;
  readonly #saves: Saves;

  /** The model's optimizer. It was chosen when the model was created and stays for its life. */
  readonly optimizer: OptimizerConfig;

  static {
    showAs(TrainingClient, ({ modelId, optimizer }) => ({ modelId, optimizer: optimizer.type }));
  }

  private constructor(parts: TrainingParts, modelId: string, optimizer: OptimizerConfig) {
    this.#model = new TrainedModel(parts, modelId);
    this.#saves = new Saves(this.#model);
    this.optimizer = optimizer;
  }

  /** @internal */
  static of<Family extends OptimizerFamily>(parts: TrainingParts, modelId: string, optimizer: OptimizerConfig): TrainingClient<Family> {
    return new TrainingClient(parts, modelId, optimizer);
  }

  /** The model's ID on the server, which is also the ID of its training run. */
  get modelId(): string {
    return this.#model.modelId;
  }

  /** The page of the training run in the web console of the hosted service. */
  get consoleUrl(): string {
    return consoleUrls.trainingRun(this.modelId);
  }

  /** A forward pass: the loss function's outputs and metrics, no gradients. */
  forward(data: readonly Datum[], lossFn: LossFnType, options: PassOptions = {}): ApiFuture<ForwardBackwardOutput> {
    return this.#pass('Forward', data, lossFn, options);
  }

  /**
   * A forward and a backward pass. The gradients are added to those accumulated since the last optimizer step. Large data is split into
   * chunks within the server's limits, and the results are combined in data order.
   *
   * If a chunk is refused the call fails and says which. Chunks accepted before keep their gradients on the server until the next
   * `optimStep` or load; operations called later continue.
   */
  forwardBackward(data: readonly Datum[], lossFn: LossFnType, options: PassOptions = {}): ApiFuture<ForwardBackwardOutput> {
    return this.#pass('ForwardBackward', data, lossFn, options);
  }

  /**
   * A forward pass, your own loss in this process, and a backward pass with its gradients. Both passes reserve their turns immediately: an
   * `optimStep` called right after this one runs when the gradients have been accumulated.
   *
   * @param data - With `targetTokens` and, if wanted for the forward pass, `weights`; nothing else.
   * @param loss - A function that receives the data and their logprobs and returns the loss, its gradient with respect to each logprob, and
   *   metrics; `@tinkex/clients/autodiff` computes the gradient for you. Or a handle from `service.createCustomLoss`: if the server runs
   *   custom losses, this is a single pass there.
   */
  forwardBackwardCustom(
    data: readonly Datum[],
    loss: CustomLoss | LossHandle,
    options: CallOptions = {},
  ): ApiFuture<CustomForwardBackwardOutput> {
    const call = this.#start<CustomForwardBackwardOutput>('ForwardBackward', options);
    if (loss instanceof LossHandle) return call.settleWith(runLossHandle(this.#model, call, data, loss));
    return call.settleWith(runCustomPass(this.#model, call, data, loss));
  }

  /**
   * Applies the accumulated gradients with the model's optimizer and clears them. AdamW has defaults for all its parameters; Dimuon needs a
   * `learningRate`. Parameters of another optimizer are refused with a `ValidationError`: nothing is sent and no sequence ID is used.
   */
  optimStep(params?: OptimStepParams<Family>, options: CallOptions = {}): ApiFuture<OptimStepResponse> {
    const call = this.#start<OptimStepResponse>('OptimStep', options);
    return call.settleWith(this.#optimStep(call, params));
  }

  /**
   * Saves weights and optimizer state under a name. A save whose answer was lost is looked up before the call fails: it is never made
   * twice, and never reported as failed when it exists.
   */
  saveState(name: string, options: SaveStateOptions = {}): ApiFuture<SaveWeightsResponse> {
    return this.#saves.saveState(name, options);
  }

  /**
   * Replaces the weights and resets the optimizer. Accumulated gradients are dropped.
   *
   * @deprecated Still works; the reference SDK advises against it. Use `service.createTrainingClientFromState(path)`, which creates a new model.
   */
  loadState(path: string, options: LoadStateOptions = {}): ApiFuture<LoadWeightsResponse> {
    const call = this.#start<LoadWeightsResponse>('LoadWeights', options);
    return call.settleWith(this.#load(call, path, false, options));
  }

  /**
   * Replaces the weights and the optimizer's state: training continues exactly where the checkpoint was saved. The checkpoint must be of the
   * same optimizer.
   *
   * @deprecated Still works; the reference SDK advises against it. Use `service.createTrainingClientFromStateWithOptimizer(path)`, which creates
   * a new model.
   */
  loadStateWithOptimizer(path: string, options: LoadStateOptions = {}): ApiFuture<LoadWeightsResponse> {
    const call = this.#start<LoadWeightsResponse>('LoadWeights', options);
    return call.settleWith(this.#load(call, path, true, options));
  }

  /** Saves the weights under a name, to sample from. */
  saveWeightsForSampler(name: string, options: SaveWeightsForSamplerOptions = {}): ApiFuture<SavedSamplerWeights> {
    return this.#saves.saveWeightsForSampler(name, options);
  }

  /**
   * Saves the weights under a name as files for other tools: `adapter_config.json`, safetensors. Download them with
   * `rest.downloadCheckpoint(path)`.
   */
  saveWeightsExternal(name: string, options: SaveWeightsExternalOptions = {}): ApiFuture<SavedExternalWeights> {
    return this.#saves.saveWeightsExternal(name, options);
  }

  /** Creates a sampling client from the current weights, without a name: they are kept only for this client. */
  async saveWeightsAndGetSamplingClient(options: SamplerOptions = {}): Promise<SamplingClient> {
    const call = this.#start<string>('SaveWeightsForSampler', options);
    const samplingSessionId = await call.settleWith(this.#saveForNewSampler(call));
    const { parts } = this.#model;
    const { retry, recordStabilityInfo } = options;
    return SamplingClient.of(parts, { samplingSessionId, sessionId: parts.session.sessionId, retry, recordStabilityInfo });
  }

  /** Creates a sampling client from saved weights. */
  createSamplingClient(modelPath: string, options: SamplerOptions = {}): Promise<SamplingClient> {
    const { parts } = this.#model;
    return SamplingClient.create(parts, parts.session, { ...options, modelPath });
  }

  /** What the server knows about the model. */
  getInfo(options: CallOptions = {}): Promise<GetInfoResponse> {
    return this.#model.parts.calls.call('getInfo', { body: { modelId: this.modelId } }, options);
  }

  /** The tokenizer of the base model. */
  async getTokenizer(options: CallOptions = {}): Promise<Tokenizer> {
    const { runtime, tokenizers } = this.#model.parts;
    return new CallScope(runtime, options).run(async (signal) => {
      const { modelData, modelName } = await this.getInfo({ signal, headers: options.headers });
      return tokenizers.load(modelData.modelName ?? modelName ?? missing('modelData.modelName'), modelData.tokenizerId, signal);
    });
  }

  /** Unloads the model after everything called before. The client cannot be used afterwards. */
  unload(options: CallOptions = {}): ApiFuture<UnloadModelResponse> {
    const call = this.#start<UnloadModelResponse>('UnloadModel', options);
    return call.settleWith(this.#unload(call));
  }

  #start<T>(requestType: string, options: CallOptions): RunningCall<T> {
    return new RunningCall<T>(this.#model.parts.runtime, requestType, options);
  }

  #pass(
    requestType: Pass['requestType'],
    data: readonly Datum[],
    lossFn: LossFnType,
    options: PassOptions,
  ): ApiFuture<ForwardBackwardOutput> {
    const call = this.#start<ForwardBackwardOutput>(requestType, options);
    // As for an optimizer step: the parameters are those of the moment of the call.
    const lossFnConfig = options.lossFnConfig && { ...options.lossFnConfig };
    return call.settleWith(runPass(this.#model, call, requestType, data, lossFn, lossFnConfig));
  }

  async #optimStep(call: OngoingCall, params: OptimStepParams | undefined): Promise<OptimStepResponse> {
    const { modelId } = this;
    const { startedAt, core } = call;
    const settings = stepSettings(this.optimizer, params);
    const turn = this.#model.reserve(call);
    const result = await this.#model.execute(call, turn, 'OptimStep', { ...settings, modelId, seqId: turn.seqIds[0] });
    const { callId, requestIds } = core;
    const [requestId] = requestIds;
    const metrics = result.metrics ?? {};
    this.#model.publishOperation({ requestType: 'OptimStep', callId, requestId, datums: 0, tokens: 0, metrics, startedAt });
    return result;
  }

  async #load(call: OngoingCall, path: string, optimizer: boolean, { weightsAccessToken }: LoadStateOptions): Promise<LoadWeightsResponse> {
    const turn = this.#model.reserve(call);
    const body = { modelId: this.modelId, seqId: turn.seqIds[0], path, optimizer, weightsAccessToken };
    const result = await this.#model.execute(call, turn, 'LoadWeights', body);
    this.#model.publishCheckpoint('tinkex:checkpoint:load', call, path);
    return result;
  }

  async #unload(call: OngoingCall): Promise<UnloadModelResponse> {
    // The request carries no sequence ID but keeps its turn.
    const turn = this.#model.reserve(call, 0);
    return this.#model.execute(call, turn, 'UnloadModel', { modelId: this.modelId });
  }

  async #saveForNewSampler(call: OngoingCall): Promise<string> {
    const { parts, modelId } = this.#model;
    const turn = this.#model.reserve(call);
    // Each attempt takes a new sequence ID for the sampler; that of the operation stays.
    const submitOnce = () => {
      const body = { modelId, seqId: turn.seqIds[0], samplingSessionSeqId: parts.session.nextSamplingSessionSeqId() };
      return submitOperation(parts, 'SaveWeightsForSampler', body, { ...call.step, hasOuterRetry: false });
    };
    let requestId: string;
    try {
      await turn.start(call.signal);
      requestId = await parts.calls.retry(submitOnce, { operation: 'saveWeightsForSampler', signal: call.signal });
    } finally {
      turn.end();
    }
    call.accept([requestId]);
    const { samplingSessionId } = await pollResult(parts, call, 'SaveWeightsForSampler', requestId);
    return samplingSessionId ?? missing('samplingSessionId');
  }
}

function missing(field: string): never {
  throw new ValidationError({ direction: 'response', subject: 'result', issues: [{ path: field, message: 'is missing' }] });
}
