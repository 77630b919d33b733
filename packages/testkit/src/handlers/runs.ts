import { jsonReply } from '../requests/message.js';
import type { RouteHandler } from '../requests/request-context.js';
import type { CheckpointRecord, ModelRecord } from '../state/records.js';
import { dateText, liveCheckpoints, type ServerContext } from '../state/server-context.js';
import type { Tenant } from '../state/tenant.js';
import { checkpointWire } from './checkpoints.js';
import { pageOf, runOf } from './lookup.js';
import { textValues } from './text-values.js';

export const listTrainingRuns: RouteHandler<'listTrainingRuns'> = ({ server, tenant, query }) => {
  const { projectId } = query;
  const runs = [...tenant.models.values()].filter(
    ({ sessionId, copiedInto }) => projectId === undefined || (copiedInto ?? tenant.sessions.get(sessionId)?.projectId) === projectId,
  );
  const { items, cursor } = pageOf(runs.reverse(), query, 20);
  return jsonReply(200, { training_runs: items.map((run) => runWire(server, tenant, run)), cursor });
};

export const getTrainingRun: RouteHandler<'getTrainingRun'> = ({ server, tenant, params }) => {
  return jsonReply(200, runWire(server, tenant, runOf(tenant, params['training_run_id'] ?? '')));
};

function runWire(server: ServerContext, tenant: Tenant, run: ModelRecord): unknown {
  const own = liveCheckpoints(server, tenant).filter(({ trainingRunId }) => trainingRunId === run.modelId);
  const last = (kind: CheckpointRecord['kind']): unknown => {
    const found = own.findLast((checkpoint) => checkpoint.kind === kind);
    return found === undefined ? null : checkpointWire(server, found);
  };
  return {
    training_run_id: run.modelId,
    base_model: run.baseModel,
    model_owner: tenant.label,
    is_lora: true,
    corrupted: false,
    lora_rank: run.lora.rank,
    last_request_time: dateText(server, run.lastRequestMs + server.settings.clockSkewMs),
    last_checkpoint: last('training'),
    last_sampler_checkpoint: last('sampler'),
    user_metadata: run.userMetadata === undefined ? null : textValues(run.userMetadata),
  };
}
