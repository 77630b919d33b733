import type { LoraConfig } from '@tinkex/types';
import type { CheckpointFiles } from '../engine/engine.js';
import type { Exchange, OperationHandler } from '../exchange/exchange.js';
import { jsonReply, refuse, type ServerReply } from '../exchange/message.js';
import { Lane } from '../state/lane.js';
import type { ModelRecord } from '../state/records.js';
import { modelOf, sessionOf } from './lookup.js';
import { newOperation, overriddenOutcome, promiseReply } from './submit.js';

export const DEFAULT_LORA: LoraConfig = { rank: 32, trainUnembed: true, trainMlp: true, trainAttn: true };

export const createModel: OperationHandler<'createModel'> = (exchange) => {
  const { sessionId, modelSeqId, baseModel, userMetadata, loraConfig } = exchange.request;
  requireBaseModel(exchange, baseModel);
  const lora = loraConfig ?? DEFAULT_LORA;
  return startModel(exchange, { sessionId, modelSeqId, baseModel, lora, userMetadata, requestType: 'CreateModel', result: createdModel });
};

/** How a model comes to be: by `create_model`, or by the load that creates it. */
export interface ModelStart {
  readonly sessionId: string;
  readonly modelSeqId: number;
  readonly baseModel: string;
  readonly lora: LoraConfig;
  readonly userMetadata: Readonly<Record<string, unknown>> | undefined;
  readonly requestType: 'CreateModel' | 'LoadWeights';
  readonly load?: { readonly files: CheckpointFiles; readonly optimizer: boolean } | undefined;
  readonly result: (model: ModelRecord) => unknown;
}

/** Makes a model with its own order of operations, whose number 0 is the creation itself. A repeat gets the same promise. */
export function startModel(exchange: Exchange, start: ModelStart): ServerReply {
  const { context, tenant } = exchange;
  const session = sessionOf(exchange, start.sessionId);
  const known = session.modelSeqs.get(start.modelSeqId);
  if (known !== undefined) {
    if (known.fingerprint !== exchange.fingerprint) {
      exchange.reject(409, 'seq-conflict', `model_seq_id ${start.modelSeqId} of ${start.sessionId} was used before with a different body`);
    }
    return promiseReply(exchange, known.requestId);
  }
  const modelId = context.ids.model(start.sessionId, start.modelSeqId);
  const model: ModelRecord = {
    modelId,
    sessionId: start.sessionId,
    modelSeqId: start.modelSeqId,
    baseModel: start.baseModel,
    lora: start.lora,
    userMetadata: start.userMetadata,
    lane: new Lane({
      clock: context.clock,
      gapMs: context.settings.seqGapMs,
      next: 0,
      execute: (operation) => context.executor.execute(tenant, operation),
    }),
    lastRequestMs: context.clock.now(),
    engine: undefined,
    isUnloaded: false,
  };
  tenant.models.set(modelId, model);
  const requestId = context.ids.request(modelId, '0');
  const accepted = { fingerprint: exchange.fingerprint, requestId };
  session.modelSeqs.set(start.modelSeqId, accepted);
  const { override } = exchange;
  // A scripted result says what the client hears; the model behind it still works.
  const outcome = override === undefined ? () => start.result(model) : () => overriddenOutcome(override);
  exchange.override = undefined;
  const operation = newOperation(exchange, {
    requestId,
    requestType: start.requestType,
    modelId,
    run: async () => {
      await attachEngine(exchange, model, start.load);
      return outcome();
    },
  });
  model.lane.submit(0, operation, accepted);
  return promiseReply(exchange, requestId);
}

async function attachEngine({ context }: Exchange, model: ModelRecord, load: ModelStart['load']): Promise<void> {
  const engine = await context.engine.createModel({ baseModel: model.baseModel, lora: model.lora });
  if (load !== undefined) await engine.load(load.files, { optimizer: load.optimizer });
  model.engine = engine;
  context.changed();
}

function createdModel({ modelId }: ModelRecord): unknown {
  return { modelId };
}

export const getInfo: OperationHandler<'getInfo'> = (exchange) => {
  const model = modelOf(exchange, exchange.request.modelId);
  const info = exchange.context.engine.supportedModels.find(({ modelName }) => modelName === model.baseModel);
  const common = { type: 'get_info', model_id: model.modelId, model_name: model.baseModel };
  if (!exchange.context.dialect.hasModelDetails) return jsonReply(200, { ...common, model_data: { model_name: model.baseModel } });
  return jsonReply(200, {
    ...common,
    is_lora: true,
    lora_rank: model.lora.rank,
    model_data: { arch: info?.arch ?? null, model_name: model.baseModel, tokenizer_id: info?.tokenizerId ?? null },
  });
};

export const unloadModel: OperationHandler<'unloadModel'> = (exchange) => {
  const { modelId } = exchange.request;
  const { context, tenant } = exchange;
  const requestId = context.ids.request(modelId, 'unload');
  if (tenant.models.get(modelId)?.isUnloaded && typeof tenant.promises.find(requestId) === 'object') {
    return promiseReply(exchange, requestId);
  }
  const model = modelOf(exchange, modelId);
  const operation = newOperation(exchange, { requestId, requestType: 'UnloadModel', modelId, run: () => ({ modelId }) });
  model.isUnloaded = true;
  // It has no number of its own: what was accepted before it is run before it.
  void model.lane.idle().then(() => {
    model.engine = undefined;
    context.changed();
    return context.executor.execute(tenant, operation);
  });
  return promiseReply(exchange, requestId);
};

/** 400 when the engine has no such base model. */
export function requireBaseModel({ context }: Exchange, baseModel: string): void {
  const names = context.engine.supportedModels.map(({ modelName }) => modelName);
  if (!names.includes(baseModel)) refuse(400, `The base model ${baseModel} is not supported; choose one of ${names.join(', ')}`);
}
