import { type SaveWeightsResponse, ValidationError } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import type { ApiFuture } from '../futures/api-future.js';
import type { Operation } from '../futures/running-call.js';
import type { EndpointCallOptions } from '../service/connection.js';
import type { ModelOperations } from './model-operations.js';
import type { RecentSave } from './recent-saves.js';
import { recoverLostSave, type SaveAttempt, submitSave } from './save-recovery.js';
import type { SavedSamplerWeights, SaveStateOptions, SaveWeightsForSamplerOptions } from './training-options.js';

/** Saves weights and optimizer state. */
export function saveTrainingState(model: ModelOperations, name: string, options: SaveStateOptions): ApiFuture<SaveWeightsResponse> {
  const { ttlSeconds, overwrite = false } = options;
  const ttl = ttlSeconds === undefined ? {} : { ttlSeconds };
  return save(model, {
    name,
    kind: 'weights',
    requestType: 'SaveWeights',
    options,
    send: (seqId, callOptions) =>
      model.connection.call('saveWeights', { body: { modelId: model.modelId, path: name, seqId, overwrite, ...ttl } }, callOptions),
  });
}

/** Saves weights to sample from. */
export function saveSamplerWeights(
  model: ModelOperations,
  name: string,
  options: SaveWeightsForSamplerOptions,
): ApiFuture<SavedSamplerWeights> {
  const { ttlSeconds } = options;
  const ttl = ttlSeconds === undefined ? {} : { ttlSeconds };
  return save(model, {
    name,
    kind: 'sampler_weights',
    requestType: 'SaveWeightsForSampler',
    options,
    send: (seqId, callOptions) =>
      model.connection.call('saveWeightsForSampler', { body: { modelId: model.modelId, path: name, seqId, ...ttl } }, callOptions),
  });
}

interface NamedSave {
  readonly name: string;
  readonly kind: SaveAttempt['kind'];
  readonly requestType: 'SaveWeights' | 'SaveWeightsForSampler';
  readonly options: CallOptions;
  readonly send: (seqId: number, options: EndpointCallOptions) => Promise<{ readonly requestId: string }>;
}

function save(model: ModelOperations, spec: NamedSave): ApiFuture<{ readonly path: string }> {
  const { requestType, options, kind, name } = spec;
  const run = async (operation: Operation) => {
    const recent = model.recentSaves.begin(`${kind}/${name}`);
    try {
      return await runSave(model, spec, operation, recent);
    } finally {
      recent.end();
    }
  };
  return model.connection.startOperation({ requestType, run }, options);
}

async function runSave(
  model: ModelOperations,
  { name, kind, requestType, options, send }: NamedSave,
  operation: Operation,
  recent: RecentSave,
): Promise<{ path: string }> {
  const { connection, modelId } = model;
  const { signal, startedAtMs } = operation;
  const { headers } = options;
  const callOptions = { signal, isScoped: true, hasOuterRetry: false, ...(headers === undefined ? {} : { headers }) };
  const attempt: SaveAttempt = { connection, modelId, name, kind, startedAtMs, signal, headers, recent };
  const turn = model.turns.reserve(1);
  let path: string | undefined;
  let requestId: string | undefined;
  try {
    await turn.start(signal);
    const submission = await submitSave(attempt, () => send(turn.seqIds[0] ?? 0, callOptions));
    if ('path' in submission) path = submission.path;
    else requestId = submission.requestId;
  } finally {
    turn.end();
  }
  if (requestId !== undefined) {
    operation.accepted([requestId]);
    path = await resultPath(model, operation, requestId, requestType, options, attempt);
  }
  if (path === undefined) {
    throw new ValidationError({
      direction: 'response',
      subject: `${requestType} result`,
      issues: [{ path: 'path', message: 'is missing' }],
    });
  }
  model.publishCheckpoint('tinkex:checkpoint:save', requestType, path, startedAtMs);
  return { path };
}

async function resultPath(
  model: ModelOperations,
  operation: Operation,
  requestId: string,
  requestType: NamedSave['requestType'],
  options: CallOptions,
  attempt: SaveAttempt,
): Promise<string | undefined> {
  try {
    const result = await model.result(operation, requestId, requestType, options);
    return result.path;
  } catch (error) {
    return recoverLostSave(attempt, error);
  }
}
