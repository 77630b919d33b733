import { jsonReply, refuse } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import { Lane } from '../state/lane.js';
import { type CheckpointRecord, newProgress } from '../state/records.js';
import { wallClockMs } from '../state/server-context.js';
import { readableCheckpoint } from './load-weights.js';
import { sessionOf } from './lookup.js';
import { checkpointPath, checkTtl } from './save-weights.js';
import { checkProject } from './sessions.js';

type CopyContext = RequestContext<'copyWeights'>;

/** Where a copy goes: a new run of a project, or, as clients before 0.34 ask, of a session. */
interface Destination {
  readonly runId: string;
  readonly sessionId: string;
  readonly modelSeqId: number;
  readonly projectId: string;
}

/** Copies a checkpoint of any kind. The copy shares the stored files; neither expiry nor publication is inherited. */
export const copyWeights: RouteHandler<'copyWeights'> = (context) => {
  const { request, raw, tenant } = context;
  const { sourcePath, ttlSeconds, sessionId } = request;
  checkTtl(context, ttlSeconds);
  const token = raw.headers['x-tinker-weights-access-token'] ?? request.weightsAccessToken;
  const source = readableCheckpoint(context, sourcePath, token);
  if (source === undefined) refuse(404, `There is no checkpoint ${sourcePath}`);
  const destination = sessionId === undefined ? projectOf(context) : sessionDestination(context, sessionId);
  const path = checkpointPath(context, destination.runId, source.kind, source.name);
  // The older form is recognized by its sequence ID; the core recognizes the newer one by its idempotency key.
  if (!tenant.checkpoints.has(path)) keepCopy(context, source, destination, path);
  return jsonReply(200, { tinker_path: path });
};

function projectOf({ server, request }: CopyContext): Destination {
  const { destinationProjectId: projectId } = request;
  if (projectId === undefined) refuse(400, 'destination_project_id is required');
  checkProject(server.settings.projects, projectId);
  const sessionId = server.ids.session();
  return { runId: server.ids.model(sessionId, 0), sessionId, modelSeqId: 0, projectId };
}

function sessionDestination(context: CopyContext, sessionId: string): Destination {
  const { modelSeqId } = context.request;
  if (modelSeqId === undefined) refuse(400, 'model_seq_id is required together with session_id');
  const session = sessionOf(context, sessionId);
  const known = session.modelSeqs.get(modelSeqId);
  if (known !== undefined && known.fingerprint !== context.fingerprint) {
    context.reject(409, 'seq-conflict', `model_seq_id ${modelSeqId} of ${sessionId} was used before with a different body`);
  }
  const runId = known?.requestId ?? context.server.ids.model(sessionId, modelSeqId);
  session.modelSeqs.set(modelSeqId, { fingerprint: context.fingerprint, requestId: runId });
  context.tenant.changed('session', sessionId);
  return { runId, sessionId, modelSeqId, projectId: session.projectId ?? 'default' };
}

function keepCopy({ server, tenant, request }: CopyContext, source: CheckpointRecord, destination: Destination, path: string): void {
  const { runId, sessionId, modelSeqId, projectId } = destination;
  const nowMs = wallClockMs(server);
  const { unembed, mlp, attn } = source.trains;
  tenant.models.set(runId, {
    modelId: runId,
    sessionId,
    modelSeqId,
    baseModel: source.baseModel,
    lora: { rank: source.loraRank, trainUnembed: unembed, trainMlp: mlp, trainAttn: attn },
    optimizer: source.optimizer,
    userMetadata: undefined,
    lane: new Lane({ clock: server.clock, gapMs: 0, next: 0, execute: async () => undefined }),
    lastRequestMs: server.clock.wallMs(),
    progress: newProgress(),
    engine: undefined,
    isUnloaded: true,
    copiedInto: projectId,
  });
  tenant.checkpoints.set(path, {
    ...source,
    path,
    trainingRunId: runId,
    savedAtMs: nowMs,
    isPublic: false,
    expiresAtMs: request.ttlSeconds === undefined ? undefined : nowMs + request.ttlSeconds * 1000,
    archiveReadyAt: undefined,
  });
  tenant.changed('model', runId);
  tenant.changed('checkpoint', path);
  tenant.addAudit({ atMs: nowMs, event: 'checkpoint_copied', modelId: runId, path });
}
