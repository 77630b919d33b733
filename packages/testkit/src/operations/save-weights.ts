import type { CheckpointFiles } from '../engine/engine.js';
import type { Exchange, OperationHandler } from '../exchange/exchange.js';
import { textFingerprint } from '../exchange/fingerprint.js';
import { refuse } from '../exchange/message.js';
import type { CheckpointRecord } from '../state/checkpoint.js';
import { OperationFailure } from '../state/executor.js';
import type { ModelRecord } from '../state/records.js';
import { liveCheckpoint, wallClockMs } from '../state/server-context.js';
import { modelOf } from './lookup.js';
import { addSampler } from './sampling.js';
import { submitTraining } from './training-submission.js';

type SaveExchange = Exchange<'saveWeights'> | Exchange<'saveWeightsForSampler'>;

export const saveWeights: OperationHandler<'saveWeights'> = (exchange) => {
  const { modelId, seqId, path: name = `checkpoint-${seqId}`, ttlSeconds, overwrite = false } = exchange.request;
  const model = modelOf(exchange as Exchange, modelId);
  checkName(exchange, name);
  const path = checkpointPath(exchange, model, 'training', name);
  const isRepeat = seqId !== undefined && model.lane.find(Number(seqId)) !== undefined;
  if (exchange.context.dialect.nameClash === 'conflict' && !overwrite && !isRepeat) refuseClash(exchange, path);
  return submitTraining(exchange as Exchange, {
    model,
    seqId,
    requestType: 'SaveWeights',
    run: async (engine) => {
      if (!overwrite && liveCheckpoint(exchange.context, exchange.tenant, path) !== undefined) {
        throw new OperationFailure({ error: `There is a checkpoint ${path} already; save with overwrite to replace it`, category: 'user' });
      }
      keep(exchange, model, { path, name, kind: 'training', ttlSeconds, files: await engine.save('training') });
      return { path };
    },
  });
};

export const saveWeightsForSampler: OperationHandler<'saveWeightsForSampler'> = (exchange) => {
  const { modelId, seqId, path: name, samplingSessionSeqId, ttlSeconds } = exchange.request;
  const model = modelOf(exchange as Exchange, modelId);
  if (name !== undefined) checkName(exchange, name);
  return submitTraining(exchange as Exchange, {
    model,
    seqId,
    requestType: 'SaveWeightsForSampler',
    // A repeated unnamed save carries a new sampling_session_seq_id and is the same operation all the same.
    fingerprint: textFingerprint(JSON.stringify([name, ttlSeconds])),
    run: async (engine) => {
      const files = await engine.save('sampler');
      if (name === undefined) return { samplingSessionId: ephemeralSampler(exchange as Exchange, model, samplingSessionSeqId ?? 0, files) };
      const path = checkpointPath(exchange, model, 'sampler', name);
      keep(exchange, model, { path, name, kind: 'sampler', ttlSeconds, files });
      return { path };
    },
  });
};

function ephemeralSampler(exchange: Exchange, model: ModelRecord, samplingSessionSeqId: number, files: CheckpointFiles): string {
  const { sessionId, baseModel } = model;
  const samplerId = exchange.context.ids.sampler(sessionId, samplingSessionSeqId);
  if (exchange.tenant.samplers.has(samplerId)) {
    throw new OperationFailure({ error: `sampling_session_seq_id ${samplingSessionSeqId} was used before`, category: 'user' });
  }
  addSampler(exchange, { samplerId, sessionId, baseModel, checkpoint: { files } });
  exchange.tenant.sessions.get(sessionId)?.samplerSeqs.set(samplingSessionSeqId, { fingerprint: 'ephemeral', samplerId });
  return samplerId;
}

function checkName({ context }: SaveExchange, name: string): void {
  if (!context.dialect.checkpointName.test(name)) {
    refuse(400, `The checkpoint name ${JSON.stringify(name)} is not allowed: it must match ${context.dialect.checkpointName.source}`);
  }
}

function refuseClash({ context, tenant }: SaveExchange, path: string): void {
  if (liveCheckpoint(context, tenant, path) !== undefined) refuse(409, `There is a checkpoint ${path} already`);
}

function checkpointPath({ context }: SaveExchange, { modelId }: ModelRecord, kind: CheckpointRecord['kind'], name: string): string {
  const segment = kind === 'training' ? 'weights' : context.dialect.samplerSegment;
  return `tinker://${[modelId, segment, name].filter((part) => part !== '').join('/')}`;
}

function keep(
  { context, tenant }: SaveExchange,
  model: ModelRecord,
  saved: Pick<CheckpointRecord, 'path' | 'name' | 'kind' | 'files'> & { readonly ttlSeconds: number | undefined },
): void {
  const { ttlSeconds, ...rest } = saved;
  const nowMs = wallClockMs(context);
  const { trainUnembed = true, trainMlp = true, trainAttn = true } = model.lora;
  tenant.checkpoints.delete(saved.path);
  tenant.checkpoints.set(saved.path, {
    ...rest,
    trainingRunId: model.modelId,
    baseModel: model.baseModel,
    loraRank: model.lora.rank,
    trains: { unembed: trainUnembed, mlp: trainMlp, attn: trainAttn },
    savedAtMs: nowMs,
    sizeBytes: [...saved.files.values()].reduce((sum, bytes) => sum + bytes.length, 0),
    isPublic: false,
    expiresAtMs: ttlSeconds === undefined ? undefined : nowMs + ttlSeconds * 1000,
    archiveReadyAtMs: undefined,
  });
  tenant.audit.push({ atMs: nowMs, event: 'checkpoint_saved', modelId: model.modelId, path: saved.path });
  tenant.addUsage('checkpoint', 1, nowMs, model.sessionId, model.baseModel);
  context.changed();
}
