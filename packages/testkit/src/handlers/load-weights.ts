import { DEFAULT_OPTIMIZER } from '@tinkex/types/wire';
import { refuse } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import { UserFailure } from '../state/executor.js';
import type { CheckpointRecord } from '../state/records.js';
import { findCheckpoint } from '../state/server-context.js';
import { modelOf } from './lookup.js';
import { familyName, requireBaseModel, requireOptimizer, startModel } from './models.js';
import { submitTraining } from './training-submission.js';

type LoadContext = RequestContext<'loadWeights'>;

export const loadWeights: RouteHandler<'loadWeights'> = (context) => {
  const { modelId, sessionId = '', modelSeqId = 0 } = context.request;
  // The codec guarantees that the request names either a model or a session with a sequence ID for a new one.
  return modelId === undefined ? createByLoading(context, sessionId, modelSeqId) : loadIntoModel(context, modelId);
};

function loadIntoModel(context: LoadContext, modelId: string): ReturnType<typeof submitTraining> {
  const { path, optimizer, seqId } = context.request;
  const model = modelOf(context, modelId);
  return submitTraining(context, {
    model,
    seqId,
    requestType: 'LoadWeights',
    changesEngine: true,
    // Looked up when the operation runs: an earlier operation of the same model may save it.
    run: async (engine) => {
      if (context.server.dialect.loads === 'untrained' && seqId !== 1) {
        throw new UserFailure(`The model ${modelId} has been used: weights can be loaded only into a new one`);
      }
      const checkpoint = checkpointFor(context);
      if (checkpoint.baseModel !== model.baseModel) {
        throw new UserFailure(`The checkpoint ${path} belongs to ${checkpoint.baseModel}, but the model to ${model.baseModel}`);
      }
      if (optimizer && checkpoint.optimizer.type !== model.optimizer.type) {
        const [theirs, own] = [familyName(checkpoint.optimizer), familyName(model.optimizer)];
        throw new UserFailure(`The checkpoint ${path} holds the state of ${theirs}, but the model is trained with ${own}`);
      }
      await engine.load(checkpoint.files, { optimizer });
      return { path, modelId };
    },
  });
}

function createByLoading(context: LoadContext, sessionId: string, modelSeqId: number): ReturnType<typeof startModel> {
  const { path, optimizer: hasState, optimizerConfig = DEFAULT_OPTIMIZER, baseModel, userMetadata } = context.request;
  let checkpoint: CheckpointRecord;
  try {
    checkpoint = checkpointFor(context);
  } catch (error) {
    if (error instanceof UserFailure) refuse(404, error.message);
    throw error;
  }
  if (baseModel !== undefined) requireBaseModel(context, baseModel);
  const optimizer = hasState ? checkpoint.optimizer : optimizerConfig;
  requireOptimizer(context, optimizer);
  const { unembed, mlp, attn } = checkpoint.trains;
  return startModel(context, {
    sessionId,
    modelSeqId,
    baseModel: baseModel ?? checkpoint.baseModel,
    lora: { rank: checkpoint.loraRank, trainUnembed: unembed, trainMlp: mlp, trainAttn: attn },
    optimizer,
    userMetadata,
    requestType: 'LoadWeights',
    load: { files: checkpoint.files, optimizer: hasState },
    result: ({ modelId }) => ({ path, modelId }),
  });
}

/** A checkpoint that a request may read: the tenant's, a public one, or one of the account whose token it carries. */
export function readableCheckpoint(
  { server, tenant }: RequestContext,
  path: string,
  token: string | undefined,
): CheckpointRecord | undefined {
  const owner = token === undefined ? tenant : ownerOf(server, token);
  return findCheckpoint(server, tenant, path) ?? (owner === undefined ? undefined : findCheckpoint(server, owner, path));
}

function checkpointFor(context: LoadContext): CheckpointRecord {
  const { path, weightsAccessToken } = context.request;
  const checkpoint = readableCheckpoint(context, path, weightsAccessToken);
  if (checkpoint === undefined) throw new UserFailure(`There is no checkpoint ${path}`);
  return checkpoint;
}

function ownerOf(server: LoadContext['server'], token: string): ReturnType<LoadContext['server']['tenants']['find']> {
  const claims = token.startsWith('eyJ') ? server.issuer.read(token) : undefined;
  return claims === undefined ? server.tenants.find(token) : server.tenants.byLabel(claims.tenant);
}
