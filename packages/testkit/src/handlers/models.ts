import type { LoraConfig, OptimizerConfig } from '@tinkex/types';
import { DEFAULT_OPTIMIZER } from '@tinkex/types/wire';
import { type CheckpointFiles, findBaseModel } from '../engine/engine.js';
import { jsonReply, refuse, type ServerReply } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import { acceptedId } from '../state/accepted-id.js';
import { Lane } from '../state/lane.js';
import { type ModelRecord, newProgress } from '../state/records.js';
import { modelOf, sessionOf } from './lookup.js';
import { futureReply, newOperation, overriddenOutcome } from './submit.js';

export const DEFAULT_LORA: LoraConfig = { rank: 32, trainUnembed: true, trainMlp: true, trainAttn: true };

export const createModel: RouteHandler<'createModel'> = (context) => {
  const { sessionId, modelSeqId, baseModel, userMetadata, loraConfig: lora = DEFAULT_LORA, optimizerConfig } = context.request;
  requireBaseModel(context, baseModel);
  const optimizer = optimizerConfig ?? DEFAULT_OPTIMIZER;
  requireOptimizer(context, optimizer);
  const start = { sessionId, modelSeqId, baseModel, lora, optimizer, userMetadata };
  return startModel(context, { ...start, requestType: 'CreateModel', result: createdModel });
};

/** How a model is created: by `create_model`, or by a load. */
export interface ModelStart {
  readonly sessionId: string;
  readonly modelSeqId: number;
  readonly baseModel: string;
  readonly lora: LoraConfig;
  readonly optimizer: OptimizerConfig;
  readonly userMetadata: Readonly<Record<string, unknown>> | undefined;
  readonly requestType: 'CreateModel' | 'LoadWeights';
  readonly load?: { readonly files: CheckpointFiles; readonly optimizer: boolean } | undefined;
  readonly result: (model: ModelRecord) => unknown;
}

/** Creates a model and its lane, in which the creation has sequence ID 0. A repeat gets the same future. */
export function startModel(context: RequestContext, start: ModelStart): ServerReply {
  const { server, tenant } = context;
  const session = sessionOf(context, start.sessionId);
  const known = session.modelSeqs.get(start.modelSeqId);
  if (known !== undefined) {
    if (known.fingerprint !== context.fingerprint) {
      context.reject(409, 'seq-conflict', `model_seq_id ${start.modelSeqId} of ${start.sessionId} was used before with a different body`);
    }
    return futureReply(context, known.requestId);
  }
  const modelId = server.ids.model(start.sessionId, start.modelSeqId);
  const model: ModelRecord = {
    modelId,
    sessionId: start.sessionId,
    modelSeqId: start.modelSeqId,
    baseModel: start.baseModel,
    lora: start.lora,
    optimizer: start.optimizer,
    userMetadata: start.userMetadata,
    lane: new Lane({
      clock: server.clock,
      gapMs: server.settings.seqGapMs,
      next: 0,
      execute: (operation) => server.executor.execute(tenant, operation),
    }),
    lastRequestMs: server.clock.wallMs(),
    progress: newProgress(),
    engine: undefined,
    isUnloaded: false,
  };
  tenant.models.set(modelId, model);
  const requestId = server.ids.request(modelId, '0');
  const accepted = { fingerprint: context.fingerprint, requestId };
  session.modelSeqs.set(start.modelSeqId, accepted);
  tenant.changed('session', start.sessionId);
  tenant.changed('model', modelId);
  tenant.changed('accepted', acceptedId(modelId, 0));
  const { override } = context;
  // A scripted result replaces only what the client receives; the model is created anyway.
  const outcome = override === undefined ? () => start.result(model) : () => overriddenOutcome(override);
  context.override = undefined;
  const operation = newOperation(context, requestId, start.requestType, async () => {
    await attachEngine(context, model, start.load);
    return outcome();
  });
  model.lane.submit(0, operation, accepted);
  return futureReply(context, requestId);
}

async function attachEngine({ server, tenant }: RequestContext, model: ModelRecord, load: ModelStart['load']): Promise<void> {
  const engine = await server.engine.createModel({ baseModel: model.baseModel, lora: model.lora, optimizer: model.optimizer });
  if (load !== undefined) await engine.load(load.files, { optimizer: load.optimizer });
  model.engine = engine;
  await server.changes.trained(tenant, model);
}

function createdModel({ modelId }: ModelRecord): unknown {
  return { modelId };
}

export const getInfo: RouteHandler<'getInfo'> = (context) => {
  const model = modelOf(context, context.request.modelId);
  const info = findBaseModel(context.server.engine, model.baseModel);
  const common = { type: 'get_info', model_id: model.modelId, model_name: model.baseModel };
  if (!context.server.dialect.hasModelDetails) return jsonReply(200, { ...common, model_data: { model_name: model.baseModel } });
  return jsonReply(200, {
    ...common,
    is_lora: true,
    lora_rank: model.lora.rank,
    ...optimizerField(model.optimizer),
    model_data: { arch: info?.arch ?? null, model_name: model.baseModel, tokenizer_id: info?.tokenizerId ?? null },
  });
};

export const unloadModel: RouteHandler<'unloadModel'> = (context) => {
  const { modelId } = context.request;
  const { server, tenant } = context;
  const requestId = server.ids.request(modelId, 'unload');
  if (tenant.models.get(modelId)?.isUnloaded && typeof tenant.futures.find(requestId) === 'object') return futureReply(context, requestId);
  const model = modelOf(context, modelId);
  const operation = newOperation(context, requestId, 'UnloadModel', () => ({ modelId }));
  model.isUnloaded = true;
  tenant.changed('model', modelId);
  // An unload has no sequence ID: it runs after the operations accepted before it.
  void model.lane.idle().then(() => {
    model.engine = undefined;
    tenant.changed('model', modelId);
    return server.executor.execute(tenant, operation);
  });
  return futureReply(context, requestId);
};

/** Answers 400 when the engine does not have the base model. */
export function requireBaseModel({ server }: RequestContext, baseModel: string): void {
  if (findBaseModel(server.engine, baseModel) !== undefined) return;
  const names = server.engine.supportedModels.map(({ modelName }) => modelName);
  refuse(400, `The base model ${baseModel} is not supported; choose one of ${names.join(', ')}`);
}

/** Answers 400 when the engine does not have the optimizer. */
export function requireOptimizer({ server }: RequestContext, optimizer: OptimizerConfig): void {
  const { optimizers = ['adamw'] } = server.engine;
  if (!optimizers.includes(optimizer.type) || optimizer.type === 'other') {
    refuse(400, `The optimizer ${familyName(optimizer)} is not supported; choose ${optimizers.join(' or ')}`);
  }
}

/** The name of an optimizer's family on the wire. */
export function familyName(optimizer: OptimizerConfig): string {
  return optimizer.type === 'other' ? String(optimizer.raw['type']) : optimizer.type;
}

/** An optimizer in an answer. AdamW is what a client assumes, so it is not said. */
export function optimizerField(optimizer: OptimizerConfig): { readonly optimizer_config?: unknown } {
  return optimizer.type === 'dimuon' ? { optimizer_config: { type: 'dimuon', version: optimizer.version ?? 1 } } : {};
}
