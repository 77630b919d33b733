import { timeAfter } from '@tinkex/http/clock';
import { signedUrl } from '../archive/signed-downloads.js';
import { jsonReply, refuse } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import type { RouteName } from '../routes/route-types.js';
import type { CheckpointRecord } from '../state/records.js';
import { dateText, findCheckpoint, liveCheckpoint, liveCheckpoints, type ServerContext, wallClockMs } from '../state/server-context.js';
import { pageOf, runOf } from './lookup.js';
import { optimizerField } from './models.js';
import { checkTtl } from './save-weights.js';

const URL_LIFETIME_MS = 15 * 60_000;

export const listCheckpoints: RouteHandler<'listCheckpoints'> = ({ server, tenant, params }) => {
  const { modelId } = runOf(tenant, params['training_run_id'] ?? '');
  const own = liveCheckpoints(server, tenant).filter(({ trainingRunId }) => trainingRunId === modelId);
  return jsonReply(200, { checkpoints: own.map((checkpoint) => checkpointWire(server, checkpoint)) });
};

export const listUserCheckpoints: RouteHandler<'listUserCheckpoints'> = ({ server, tenant, query }) => {
  const { items, cursor } = pageOf(liveCheckpoints(server, tenant).reverse(), query, 100);
  return jsonReply(200, { checkpoints: items.map((checkpoint) => checkpointWire(server, checkpoint)), cursor });
};

export const deleteCheckpoint: RouteHandler<'deleteCheckpoint'> = (context) => {
  const checkpoint = ownCheckpoint(context);
  context.tenant.checkpoints.delete(checkpoint.path);
  note(context, checkpoint, 'checkpoint_deleted');
  return jsonReply(200, {});
};

export const publishCheckpoint: RouteHandler<'publishCheckpoint'> = (context) => setPublic(context, true);

export const unpublishCheckpoint: RouteHandler<'unpublishCheckpoint'> = (context) => setPublic(context, false);

export const setCheckpointTtl: RouteHandler<'setCheckpointTtl'> = (context) => {
  const { ttlSeconds } = context.request;
  const checkpoint = ownCheckpoint(context);
  checkTtl(context, ttlSeconds);
  checkpoint.expiresAtMs = ttlSeconds === null ? undefined : wallClockMs(context.server) + ttlSeconds * 1000;
  note(context, checkpoint, 'checkpoint_ttl_set');
  return jsonReply(200, {});
};

export const checkpointArchive: RouteHandler<'checkpointArchive'> = (context) => {
  const { server, tenant } = context;
  const checkpoint = ownCheckpoint(context);
  checkpoint.archiveReadyAt ??= timeAfter(server.clock, server.settings.archiveBuildMs);
  if (server.clock.monotonicMs() < checkpoint.archiveReadyAt) refuse(503, 'The archive is being built; try again later');
  if (server.dialect.archive === 'file') return { status: 302, headers: { location: placeOnDisk(checkpoint) }, body: '' };
  const resource = `/signed/archive/${encodeURIComponent(tenant.label)}/${encodeURIComponent(checkpoint.path)}`;
  const { url, expiresAtMs } = signedUrl(server, resource, URL_LIFETIME_MS);
  if (server.dialect.archive === 'json') return jsonReply(200, { url, expires: dateText(server, expiresAtMs) });
  return { status: 302, headers: { location: url, expires: new Date(expiresAtMs).toUTCString() }, body: '' };
};

/** Where a server with a disk would keep the checkpoint. */
function placeOnDisk({ trainingRunId, kind, name }: CheckpointRecord): string {
  return `file:///checkpoints/${[trainingRunId, kind, name].map(encodeURIComponent).join('/')}`;
}

export const externalWeightsUrls: RouteHandler<'externalWeightsUrls'> = (context) => {
  const { server, tenant } = context;
  const { path, kind, files } = ownCheckpoint(context);
  if (kind !== 'external') refuse(400, `The checkpoint ${path} has no files to download: it is a ${kind} checkpoint, not an external one`);
  const folder = `/signed/file/${encodeURIComponent(tenant.label)}/${encodeURIComponent(path)}`;
  const urls = [...files.keys()].map((name) => [name, signedUrl(server, `${folder}/${encodeURIComponent(name)}`, URL_LIFETIME_MS).url]);
  return jsonReply(200, { urls: Object.fromEntries(urls), expires: dateText(server, wallClockMs(server) + URL_LIFETIME_MS) });
};

export const weightsInfo: RouteHandler<'weightsInfo'> = ({ server, tenant, request }) => {
  const checkpoint = findCheckpoint(server, tenant, request.tinkerPath);
  if (checkpoint === undefined) refuse(404, `There is no checkpoint ${request.tinkerPath}`);
  const { unembed, mlp, attn } = checkpoint.trains;
  return jsonReply(200, {
    base_model: checkpoint.baseModel,
    ...optimizerField(checkpoint.optimizer),
    is_lora: true,
    lora_rank: checkpoint.loraRank,
    train_unembed: unembed,
    train_mlp: mlp,
    train_attn: attn,
  });
};

function setPublic(context: RequestContext, isPublic: boolean): ReturnType<RouteHandler<RouteName>> {
  const checkpoint = ownCheckpoint(context);
  if (checkpoint.isPublic === isPublic) refuse(409, `The checkpoint ${checkpoint.path} is already ${isPublic ? 'public' : 'private'}`);
  checkpoint.isPublic = isPublic;
  note(context, checkpoint, isPublic ? 'checkpoint_published' : 'checkpoint_unpublished');
  return jsonReply(200, {});
}

/** The checkpoint that the path names. Answers 400 for a malformed id, 404 when it does not exist or belongs to another tenant. */
function ownCheckpoint({ server, tenant, params }: RequestContext): CheckpointRecord {
  const runId = params['training_run_id'] ?? '';
  const checkpointId = params['checkpoint_id'] ?? '';
  const isBare = server.dialect.checkpointIds === 'bare';
  if (!isBare && !/^(?:weights|sampler_weights|external_weights)\/[^/]+$/.test(checkpointId)) {
    refuse(
      400,
      `The checkpoint id ${JSON.stringify(checkpointId)} is malformed: it is weights/{name}, sampler_weights/{name} or external_weights/{name}`,
    );
  }
  const candidates = isBare ? [`weights/${checkpointId}`, `sampler_weights/${checkpointId}`, checkpointId] : [checkpointId];
  const found = candidates.flatMap((id) => liveCheckpoint(server, tenant, `tinker://${runId}/${id}`) ?? [])[0];
  if (found === undefined) refuse(404, `There is no checkpoint ${checkpointId} of ${runId}`);
  return found;
}

/** A checkpoint as listings show it. */
export function checkpointWire(server: ServerContext, checkpoint: CheckpointRecord): unknown {
  const prefix = { training: 'weights/', sampler: 'sampler_weights/', external: 'external_weights/' }[checkpoint.kind];
  return {
    checkpoint_id: server.dialect.checkpointIds === 'bare' ? checkpoint.name : `${prefix}${checkpoint.name}`,
    checkpoint_type: checkpoint.kind,
    time: dateText(server, checkpoint.savedAtMs),
    tinker_path: checkpoint.path,
    size_bytes: checkpoint.sizeBytes,
    public: checkpoint.isPublic,
    user_metadata: checkpoint.userMetadata ?? null,
    expires_at: checkpoint.expiresAtMs === undefined ? null : dateText(server, checkpoint.expiresAtMs),
  };
}

function note({ server, tenant }: RequestContext, { path, trainingRunId }: CheckpointRecord, event: string): void {
  tenant.changed('checkpoint', path);
  tenant.addAudit({ atMs: wallClockMs(server), event, modelId: trainingRunId, path });
}
