import type { Exchange, OperationHandler } from '../exchange/exchange.js';
import { refuse } from '../exchange/message.js';
import type { CheckpointRecord } from '../state/checkpoint.js';
import { UserFailure } from '../state/executor.js';
import { findCheckpoint } from '../state/server-context.js';
import { modelOf } from './lookup.js';
import { requireBaseModel, startModel } from './models.js';
import { submitTraining } from './training-submission.js';

type LoadExchange = Exchange<'loadWeights'>;

export const loadWeights: OperationHandler<'loadWeights'> = (exchange: LoadExchange) => {
  const { modelId, sessionId = '', modelSeqId = 0 } = exchange.request;
  // The request was checked: it names a model, or a session with a number for a new one, and never both.
  return modelId === undefined ? createByLoading(exchange, sessionId, modelSeqId) : loadIntoModel(exchange, modelId);
};

function loadIntoModel(exchange: LoadExchange, modelId: string): ReturnType<typeof submitTraining> {
  const { path, optimizer, seqId } = exchange.request;
  const model = modelOf(exchange as Exchange, modelId);
  return submitTraining(exchange as Exchange, {
    model,
    seqId,
    requestType: 'LoadWeights',
    // Looked up when its turn comes: the save that makes it may stand before it in the same order.
    run: async (engine) => {
      const checkpoint = checkpointFor(exchange);
      if (checkpoint.baseModel !== model.baseModel) {
        throw new UserFailure(`The checkpoint ${path} is of ${checkpoint.baseModel}, the model of ${model.baseModel}`);
      }
      await engine.load(checkpoint.files, { optimizer });
      exchange.context.changed();
      return { path, modelId };
    },
  });
}

function createByLoading(exchange: LoadExchange, sessionId: string, modelSeqId: number): ReturnType<typeof startModel> {
  const { path, optimizer, baseModel, userMetadata } = exchange.request;
  let checkpoint: CheckpointRecord;
  try {
    checkpoint = checkpointFor(exchange);
  } catch (error) {
    if (error instanceof UserFailure) refuse(404, error.message);
    throw error;
  }
  if (baseModel !== undefined) requireBaseModel(exchange as Exchange, baseModel);
  const { unembed, mlp, attn } = checkpoint.trains;
  return startModel(exchange as Exchange, {
    sessionId,
    modelSeqId,
    baseModel: baseModel ?? checkpoint.baseModel,
    lora: { rank: checkpoint.loraRank, trainUnembed: unembed, trainMlp: mlp, trainAttn: attn },
    userMetadata,
    requestType: 'LoadWeights',
    load: { files: checkpoint.files, optimizer },
    result: ({ modelId }) => ({ path, modelId }),
  });
}

/** The checkpoint that the request may read: its own, a public one, or one of the account whose token it carries. */
function checkpointFor({ context, tenant, request }: LoadExchange): CheckpointRecord {
  const { path, weightsAccessToken } = request;
  const owner = weightsAccessToken === undefined ? tenant : ownerOf(context, weightsAccessToken);
  const checkpoint = findCheckpoint(context, tenant, path) ?? (owner === undefined ? undefined : findCheckpoint(context, owner, path));
  if (checkpoint === undefined) throw new UserFailure(`There is no checkpoint ${path}`);
  return checkpoint;
}

function ownerOf(context: LoadExchange['context'], token: string): ReturnType<LoadExchange['context']['tenants']['find']> {
  const claims = token.startsWith('eyJ') ? context.issuer.read(token) : undefined;
  return claims === undefined ? context.tenants.find(token) : context.tenants.byLabel(claims.tenant);
}
