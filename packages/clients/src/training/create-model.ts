import { publish } from '@tinkex/http';
import { ValidationError, type WeightsInfoResponse } from '@tinkex/types';
import { type CreateModelRequest, endpoints, resolveLoraConfig } from '@tinkex/types/wire';
import type { CallOptions } from '../runtime/call-options.js';
import type { ApiFuture } from '../futures/api-future.js';
import type { FutureResults } from '../futures/futures.js';
import { resultDecoders } from '../futures/result-decoders.js';
import type { Connection, EndpointCallOptions, SessionConnection } from '../service/connection.js';
import type { FromStateOptions, LoraTrainingOptions } from './training-options.js';

/** @throws `ValidationError` when no server could make this adapter. */
export function checkLoraModel(options: LoraTrainingOptions): void {
  endpoints.createModel.request.encode({ sessionId: '', modelSeqId: 0, ...loraModel(options) });
}

/** Creates a model with a new adapter and waits until it is there. */
export async function createLoraModel(
  connection: SessionConnection,
  modelSeqId: number,
  options: LoraTrainingOptions & CallOptions,
): Promise<string> {
  const body = { sessionId: connection.sessionId, modelSeqId, ...loraModel(options) };
  const { modelId } = await create(
    connection,
    'CreateModel',
    (callOptions) => connection.call('createModel', { body }, callOptions),
    options,
  );
  return modelId;
}

/** What the user decides about a new model. */
function loraModel(options: LoraTrainingOptions): Omit<CreateModelRequest, 'sessionId' | 'modelSeqId'> {
  const { baseModel, userMetadata, rank, seed, trainMlp, trainAttn, trainUnembed } = options;
  const lora = {
    ...(rank === undefined ? {} : { rank }),
    ...(seed === undefined ? {} : { seed }),
    ...(trainMlp === undefined ? {} : { trainMlp }),
    ...(trainAttn === undefined ? {} : { trainAttn }),
    ...(trainUnembed === undefined ? {} : { trainUnembed }),
  };
  return { baseModel, loraConfig: resolveLoraConfig(lora), ...(userMetadata === undefined ? {} : { userMetadata }) };
}

/** A model to be made of saved weights. */
export interface ModelFromState {
  readonly path: string;
  readonly hasOptimizer: boolean;
  readonly modelSeqId: number;
  readonly options: FromStateOptions & CallOptions;
  /** Connects with another credential, for weights of another account. */
  readonly connectAs: (apiKey: string) => { readonly connection: Promise<Connection>; readonly close: () => Promise<void> };
}

/**
 * Creates a model of saved weights, in the way the server is configured for: by one load, or as a new model into which the
 * weights are still to be loaded (`loadPath`).
 */
export async function createModelFromState(
  connection: SessionConnection,
  request: ModelFromState,
): Promise<{ readonly modelId: string; readonly loadPath?: string }> {
  if (connection.config.createModelViaLoadWeights) return { modelId: await createByLoading(connection, request) };
  const { path, modelSeqId, options } = request;
  const info = await weightsInfo(connection, request);
  const { loraRank, trainMlp = true, trainAttn = true, trainUnembed = true } = info;
  const { userMetadata, signal, headers } = options;
  const modelId = await createLoraModel(connection, modelSeqId, {
    baseModel: options.baseModel ?? info.baseModel,
    rank: loraRank ?? noRank(path),
    trainMlp,
    trainAttn,
    trainUnembed,
    ...(userMetadata === undefined ? {} : { userMetadata }),
    ...(signal === undefined ? {} : { signal }),
    ...(headers === undefined ? {} : { headers }),
  });
  return { modelId, loadPath: path };
}

async function weightsInfo(connection: Connection, { path, options, connectAs }: ModelFromState): Promise<WeightsInfoResponse> {
  const { weightsAccessToken } = options;
  if (weightsAccessToken === undefined) return connection.call('weightsInfo', { body: { tinkerPath: path } }, options);
  const owner = connectAs(weightsAccessToken);
  try {
    return await (await owner.connection).call('weightsInfo', { body: { tinkerPath: path } }, options);
  } finally {
    await owner.close();
  }
}

/** One request that both creates and loads; the model's id follows from the session's. */
async function createByLoading(
  connection: SessionConnection,
  { path, hasOptimizer, modelSeqId, options }: ModelFromState,
): Promise<string> {
  const { baseModel, userMetadata, weightsAccessToken } = options;
  const startedAtMs = connection.clock.now();
  const body = {
    sessionId: connection.sessionId,
    modelSeqId,
    path,
    optimizer: hasOptimizer,
    ...(baseModel === undefined ? {} : { baseModel }),
    ...(userMetadata === undefined ? {} : { userMetadata }),
    ...(weightsAccessToken === undefined ? {} : { weightsAccessToken }),
  };
  const { modelId = `${connection.sessionId}:train:${modelSeqId}` } = await create(
    connection,
    'LoadWeights',
    (callOptions) => connection.call('loadWeights', { body }, callOptions),
    options,
  );
  const durationMs = connection.clock.now() - startedAtMs;
  publish('tinkex:checkpoint:load', { requestType: 'LoadWeights', modelId, path, durationMs, ...connection.source() });
  return modelId;
}

/** Runs a creation behind a future of its own, so that its queue states and its failure are told like any other's. */
function create<Type extends 'CreateModel' | 'LoadWeights'>(
  connection: SessionConnection,
  requestType: Type,
  submit: (options: EndpointCallOptions) => Promise<{ readonly requestId: string }>,
  options: CallOptions,
): ApiFuture<FutureResults[Type]> {
  const { headers } = options;
  return connection.startOperation(
    {
      requestType,
      async run({ signal, startedAtMs, accepted, observer }) {
        const callOptions = { signal, isScoped: true, ...(headers === undefined ? {} : { headers }) };
        const { requestId } = await submit(callOptions);
        accepted([requestId]);
        return connection.poll({
          requestId,
          requestType,
          decoder: resultDecoders[requestType],
          roundtripMs: connection.clock.now() - startedAtMs,
          signal,
          ...(headers === undefined ? {} : { headers }),
          observer,
        });
      },
    },
    options,
  );
}

function noRank(path: string): never {
  const issues = [{ path: 'loraRank', message: `is missing: ${path} holds no LoRA weights that training could go on from` }];
  throw new ValidationError({ direction: 'response', subject: 'WeightsInfoResponse', issues });
}
