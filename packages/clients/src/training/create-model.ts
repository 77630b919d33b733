import { elapsedMs, publish } from '@tinkex/http';
import { NotFoundError, type OptimizerConfig, ValidationError, type WeightsInfoResponse } from '@tinkex/types';
import { type CreateModelRequest, DEFAULT_LORA_RANK, DEFAULT_OPTIMIZER, endpoints, resolveLoraConfig } from '@tinkex/types/wire';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import type { FutureResults } from '../futures/result-decoders.js';
import { type OngoingCall, RunningCall } from '../futures/running-call.js';
import type { CallOptions } from '../runtime/call-options.js';
import { type OperationBody, pollResult, submitOperation, type TrainingParts } from './operations.js';
import { optimizerToSend } from './optimizer-settings.js';
import type { FromStateOptions, FromWeightsOptions, LoraTrainingOptions } from './training-options.js';

/** @throws `ValidationError` when no server could create this adapter. */
export function checkLoraModel(options: LoraTrainingOptions): void {
  endpoints.createModel.request.encode({ sessionId: '', modelSeqId: 0, ...loraModel(options) });
}

/** @throws `ValidationError` when no server could create a model with this optimizer. */
export function checkOptimizer({ optimizer }: FromWeightsOptions): void {
  const model = { sessionId: '', modelSeqId: 0, path: 'tinker://', optimizer: false };
  endpoints.loadWeights.request.encode({ ...model, optimizerConfig: optimizerToSend(optimizer) });
}

/** @throws `ValidationError` for an empty path, which no server has. */
export function checkStatePath(path: string): void {
  if (path !== '') return;
  const issues = [{ path: 'path', message: 'is empty; name a training checkpoint, such as tinker://…/weights/…' }];
  throw new ValidationError({ direction: 'request', subject: 'call', issues });
}

/** Creates a model with a new adapter and waits until it exists. */
export async function createLoraModel(parts: TrainingParts, modelSeqId: number, options: LoraTrainingOptions): Promise<string> {
  const { sessionId } = parts.session;
  const { modelId } = await runCreation(parts, 'CreateModel', { sessionId, modelSeqId, ...loraModel(options) }, options);
  return modelId;
}

/** The part of a new model that the user decides. */
function loraModel(options: LoraTrainingOptions): Omit<CreateModelRequest, 'sessionId' | 'modelSeqId'> {
  const { baseModel, userMetadata, rank, seed, trainMlp, trainAttn, trainUnembed, optimizer } = options;
  return {
    baseModel,
    loraConfig: resolveLoraConfig({ rank: rank ?? DEFAULT_LORA_RANK, seed, trainMlp, trainAttn, trainUnembed }),
    optimizerConfig: optimizerToSend(optimizer),
    userMetadata,
  };
}

/** A model to be created from saved weights. */
export interface ModelFromState {
  readonly path: string;
  readonly hasOptimizer: boolean;
  /** The optimizer to create; undefined for the one that the weights were trained with. Always undefined when its state is restored. */
  readonly optimizer: OptimizerConfig | undefined;
  readonly modelSeqId: number;
  readonly options: FromStateOptions;
  /** Connects with another credential, for weights of another account. */
  readonly connectAs: (apiKey: string) => { readonly calls: Promise<EndpointCaller>; readonly close: () => Promise<void> };
}

/** The model, and the path of the weights that must still be loaded into it, if any. */
export interface CreatedFromState {
  readonly modelId: string;
  readonly optimizer: OptimizerConfig;
  readonly loadPath?: string | undefined;
}

/**
 * Creates a model from saved weights, in the way that the server is configured for: by one load, or as a new model into which the weights
 * must still be loaded (`loadPath`).
 */
export async function createModelFromState(parts: TrainingParts, request: ModelFromState): Promise<CreatedFromState> {
  if (parts.training.config.createModelViaLoadWeights) {
    // What the steps of the new model take depends on its optimizer, so it must be known.
    const optimizer = request.optimizer ?? (await savedOptimizer(parts, request));
    return { modelId: await createByLoading(parts, request, optimizer), optimizer };
  }
  const { path, modelSeqId, options } = request;
  const info = await weightsInfo(parts, request);
  const { loraRank, trainMlp = true, trainAttn = true, trainUnembed = true } = info;
  const { userMetadata, signal, headers } = options;
  const baseModel = options.baseModel ?? info.baseModel;
  const rank = loraRank ?? noRank(path);
  const optimizer = request.optimizer ?? info.optimizerConfig;
  const lora = { baseModel, rank, trainMlp, trainAttn, trainUnembed, optimizer, userMetadata, signal, headers };
  return { modelId: await createLoraModel(parts, modelSeqId, lora), optimizer, loadPath: path };
}

/** A server without that endpoint knows only AdamW. A checkpoint that does not exist is explained by the load that follows. */
async function savedOptimizer(parts: TrainingParts, request: ModelFromState): Promise<OptimizerConfig> {
  try {
    return (await weightsInfo(parts, request)).optimizerConfig;
  } catch (error) {
    if (NotFoundError.isInstance(error)) return DEFAULT_OPTIMIZER;
    throw error;
  }
}

async function weightsInfo(
  { calls }: TrainingParts,
  { path: tinkerPath, options, connectAs }: ModelFromState,
): Promise<WeightsInfoResponse> {
  const { weightsAccessToken } = options;
  if (weightsAccessToken === undefined) return calls.call('weightsInfo', { body: { tinkerPath } }, options);
  const owner = connectAs(weightsAccessToken);
  try {
    return await (await owner.calls).call('weightsInfo', { body: { tinkerPath } }, options);
  } finally {
    await owner.close();
  }
}

/** One request that both creates and loads; the model's ID follows from the session's. */
async function createByLoading(
  parts: TrainingParts,
  { path, hasOptimizer, modelSeqId, options }: ModelFromState,
  optimizer: OptimizerConfig,
): Promise<string> {
  const { baseModel, userMetadata, weightsAccessToken } = options;
  const { clock, source } = parts.runtime;
  const { sessionId } = parts.session;
  const startedAt = clock.monotonicMs();
  // A restored state brings its optimizer with it.
  const optimizerConfig = hasOptimizer ? undefined : optimizerToSend(optimizer);
  const body = { sessionId, modelSeqId, path, optimizer: hasOptimizer, optimizerConfig, baseModel, userMetadata, weightsAccessToken };
  const { modelId = `${sessionId}:train:${modelSeqId}` } = await runCreation(parts, 'LoadWeights', body, options);
  publish('tinkex:checkpoint:load', { requestType: 'LoadWeights', modelId, path, durationMs: elapsedMs(clock, startedAt), ...source() });
  return modelId;
}

type Creation = 'CreateModel' | 'LoadWeights' | 'CreateCustomLoss';

/** Runs a creation behind a future, so that its queue states and its failure are published like any other's. */
export async function runCreation<Type extends Creation>(
  parts: TrainingParts,
  requestType: Type,
  body: OperationBody<Type>,
  options: CallOptions,
): Promise<FutureResults[Type]> {
  const call = new RunningCall<FutureResults[Type]>(parts.runtime, requestType, options);
  return call.settleWith(execute(parts, call, requestType, body));
}

async function execute<Type extends Creation>(
  parts: TrainingParts,
  call: OngoingCall,
  requestType: Type,
  body: OperationBody<Type>,
): Promise<FutureResults[Type]> {
  call.throwIfEnded();
  const requestId = await submitOperation(parts, requestType, body, call.step);
  call.accept([requestId]);
  return pollResult(parts, call, requestType, requestId);
}

function noRank(path: string): never {
  const issues = [{ path: 'loraRank', message: `is missing: ${path} holds no LoRA weights that training could continue from` }];
  throw new ValidationError({ direction: 'response', subject: 'WeightsInfoResponse', issues });
}
