import type { Exchange, OperationHandler } from '../exchange/exchange.js';
import { jsonReply, refuse } from '../exchange/message.js';
import type { RouteName } from '../routes/route-types.js';
import type { CheckpointRecord } from '../state/checkpoint.js';
import { dateText, findCheckpoint, liveCheckpoint, liveCheckpoints, type ServerContext, wallClockMs } from '../state/server-context.js';
import { runOf } from './lookup.js';
import { page } from './page.js';

export const listCheckpoints: OperationHandler<'listCheckpoints'> = ({ context, tenant, params }) => {
  const { modelId } = runOf(tenant, params['training_run_id'] ?? '');
  const own = liveCheckpoints(context, tenant).filter(({ trainingRunId }) => trainingRunId === modelId);
  return jsonReply(200, { checkpoints: own.map((checkpoint) => checkpointWire(context, checkpoint)) });
};

export const listUserCheckpoints: OperationHandler<'listUserCheckpoints'> = ({ context, tenant, query }) => {
  const { items, cursor } = page(liveCheckpoints(context, tenant).reverse(), query, 100);
  return jsonReply(200, { checkpoints: items.map((checkpoint) => checkpointWire(context, checkpoint)), cursor });
};

export const deleteCheckpoint: OperationHandler<'deleteCheckpoint'> = (exchange) => {
  const checkpoint = ownCheckpoint(exchange as Exchange);
  exchange.tenant.checkpoints.delete(checkpoint.path);
  note(exchange as Exchange, checkpoint, 'checkpoint_deleted');
  return jsonReply(200, {});
};

export const publishCheckpoint: OperationHandler<'publishCheckpoint'> = (exchange) => setPublic(exchange as Exchange, true);

export const unpublishCheckpoint: OperationHandler<'unpublishCheckpoint'> = (exchange) => setPublic(exchange as Exchange, false);

export const setCheckpointTtl: OperationHandler<'setCheckpointTtl'> = (exchange) => {
  const { ttlSeconds } = exchange.request;
  const checkpoint = ownCheckpoint(exchange as Exchange);
  checkpoint.expiresAtMs = ttlSeconds === null ? undefined : wallClockMs(exchange.context) + ttlSeconds * 1000;
  note(exchange as Exchange, checkpoint, 'checkpoint_ttl_set');
  return jsonReply(200, {});
};

export const weightsInfo: OperationHandler<'weightsInfo'> = ({ context, tenant, request }) => {
  const checkpoint = findCheckpoint(context, tenant, request.tinkerPath);
  if (checkpoint === undefined) refuse(404, `There is no checkpoint ${request.tinkerPath}`);
  const { unembed, mlp, attn } = checkpoint.trains;
  return jsonReply(200, {
    base_model: checkpoint.baseModel,
    is_lora: true,
    lora_rank: checkpoint.loraRank,
    train_unembed: unembed,
    train_mlp: mlp,
    train_attn: attn,
  });
};

function setPublic(exchange: Exchange, isPublic: boolean): ReturnType<OperationHandler<RouteName>> {
  const checkpoint = ownCheckpoint(exchange);
  if (checkpoint.isPublic === isPublic) refuse(409, `The checkpoint ${checkpoint.path} is already ${isPublic ? 'public' : 'private'}`);
  checkpoint.isPublic = isPublic;
  note(exchange, checkpoint, isPublic ? 'checkpoint_published' : 'checkpoint_unpublished');
  return jsonReply(200, {});
}

/** The checkpoint of the path's ids: 400 when the id is malformed, 404 when it is not there or not the caller's. */
export function ownCheckpoint({ context, tenant, params }: Exchange): CheckpointRecord {
  const runId = params['training_run_id'] ?? '';
  const checkpointId = params['checkpoint_id'] ?? '';
  const isBare = context.dialect.checkpointIds === 'bare';
  if (!isBare && !/^(?:weights|sampler_weights)\/[^/]+$/.test(checkpointId)) {
    refuse(400, `The checkpoint id ${JSON.stringify(checkpointId)} is malformed: it is weights/{name} or sampler_weights/{name}`);
  }
  const candidates = isBare ? [`weights/${checkpointId}`, `sampler_weights/${checkpointId}`, checkpointId] : [checkpointId];
  const found = candidates.flatMap((id) => liveCheckpoint(context, tenant, `tinker://${runId}/${id}`) ?? [])[0];
  if (found === undefined) refuse(404, `There is no checkpoint ${checkpointId} of ${runId}`);
  return found;
}

/** A checkpoint as listings show it. */
export function checkpointWire(context: ServerContext, checkpoint: CheckpointRecord): unknown {
  const prefix = checkpoint.kind === 'training' ? 'weights/' : 'sampler_weights/';
  return {
    checkpoint_id: context.dialect.checkpointIds === 'bare' ? checkpoint.name : `${prefix}${checkpoint.name}`,
    checkpoint_type: checkpoint.kind,
    time: dateText(context, checkpoint.savedAtMs),
    tinker_path: checkpoint.path,
    size_bytes: checkpoint.sizeBytes,
    public: checkpoint.isPublic,
    expires_at: checkpoint.expiresAtMs === undefined ? null : dateText(context, checkpoint.expiresAtMs),
  };
}

function note({ context, tenant }: Exchange, { path, trainingRunId }: CheckpointRecord, event: string): void {
  tenant.audit.push({ atMs: wallClockMs(context), event, modelId: trainingRunId, path });
  context.changed();
}
