import type { SampleResponse } from '@tinkex/types';
import type { SampleRequest } from '@tinkex/types/wire';
import type { CheckpointFiles, EngineSampler } from '../engine/engine.js';
import type { Exchange, OperationHandler } from '../exchange/exchange.js';
import { textFingerprint } from '../exchange/fingerprint.js';
import { jsonReply, refuse } from '../exchange/message.js';
import type { CheckpointRecord } from '../state/checkpoint.js';
import type { AcceptedOperation } from '../state/operation.js';
import type { SamplerRecord } from '../state/records.js';
import { findCheckpoint, type ServerContext } from '../state/server-context.js';
import { samplerOf, sessionOf } from './lookup.js';
import { requireBaseModel } from './models.js';
import { newOperation, promiseReply } from './submit.js';

export const createSamplingSession: OperationHandler<'createSamplingSession'> = (exchange: Exchange<'createSamplingSession'>) => {
  const { sessionId, samplingSessionSeqId, baseModel, modelPath } = exchange.request;
  const session = sessionOf(exchange as Exchange, sessionId);
  const fingerprint = textFingerprint(JSON.stringify([baseModel, modelPath]));
  const known = session.samplerSeqs.get(samplingSessionSeqId);
  if (known !== undefined && known.fingerprint !== fingerprint) {
    const text = `sampling_session_seq_id ${samplingSessionSeqId} of ${sessionId} was used before with a different body`;
    exchange.reject(409, 'seq-conflict', text);
  }
  if (known !== undefined) {
    return jsonReply(200, { type: 'create_sampling_session', sampling_session_id: known.samplerId });
  }
  const source = samplerSource(exchange as Exchange, baseModel, modelPath);
  const samplerId = exchange.context.ids.sampler(sessionId, samplingSessionSeqId);
  addSampler(exchange as Exchange, { samplerId, sessionId, ...source });
  session.samplerSeqs.set(samplingSessionSeqId, { fingerprint, samplerId });
  return jsonReply(200, { type: 'create_sampling_session', sampling_session_id: samplerId });
};

/** The weights a request names: 400 for neither, 404 for a path that is not there. */
function samplerSource(
  exchange: Exchange,
  baseModel: string | undefined,
  modelPath: string | undefined,
): { readonly baseModel: string; readonly checkpoint: CheckpointRecord | undefined } {
  if (modelPath === undefined) {
    if (baseModel === undefined) {
      exchange.reject(400, 'sampler-source', 'Name a base_model or a model_path');
    }
    requireBaseModel(exchange, baseModel);
    return { baseModel, checkpoint: undefined };
  }
  if (!modelPath.startsWith('tinker://')) {
    exchange.reject(400, 'sampler-source', `model_path must start with tinker://, got ${modelPath}`);
  }
  const checkpoint = findCheckpoint(exchange.context, exchange.tenant, modelPath);
  if (checkpoint === undefined) {
    refuse(404, `There is no checkpoint ${modelPath}`);
  }
  return { baseModel: checkpoint.baseModel, checkpoint };
}

/** Makes a sampler of fixed weights. */
export function addSampler(
  { context, tenant }: Exchange,
  init: {
    readonly samplerId: string;
    readonly sessionId: string;
    readonly baseModel: string;
    readonly checkpoint: (Pick<CheckpointRecord, 'files'> & { readonly path?: string }) | undefined;
  },
): SamplerRecord {
  const { samplerId, sessionId, baseModel, checkpoint } = init;
  const sampler: SamplerRecord = {
    samplerId,
    sessionId,
    baseModel,
    modelPath: checkpoint?.path,
    accepted: new Map(),
    files: checkpoint?.files,
    engine: undefined,
  };
  tenant.samplers.set(samplerId, sampler);
  context.changed();
  return sampler;
}

export const asample: OperationHandler<'asample'> = (exchange: Exchange<'asample'>) => {
  const { context, tenant, request } = exchange;
  const { samplingSessionId, seqId } = request;
  if (samplingSessionId === undefined) {
    return sampleDirectly(exchange);
  }
  const sampler = samplerOf(exchange as Exchange, samplingSessionId);
  if (seqId === undefined) {
    exchange.reject(422, 'seq-missing', 'asample with a sampling_session_id needs a seq_id');
  }
  const key = String(seqId);
  const known = sampler.accepted.get(key);
  if (known !== undefined && known.fingerprint !== exchange.fingerprint) {
    exchange.reject(409, 'seq-conflict', `seq_id ${key} of ${samplingSessionId} was submitted before with a different body`);
  }
  if (known !== undefined && typeof tenant.promises.find(known.requestId) === 'object') {
    if (context.dialect.repeat === 'conflict') {
      refuse(409, `seq_id ${key} of ${samplingSessionId} was submitted before`);
    }
    return promiseReply(exchange as Exchange, known.requestId, sequenceIds(exchange, known.requestId));
  }
  // A sample whose promise is gone may be asked for again under the same number: it has no side effects.
  const requestId = known?.requestId ?? context.ids.request(samplingSessionId, key);
  remember(sampler, key, { fingerprint: exchange.fingerprint, requestId });
  return startSample(exchange, requestId, sampler.sessionId, sampler.baseModel, () => {
    sampler.engine ??= makeSampler(context, sampler.baseModel, sampler.files);
    return sampler.engine;
  });
};

const MAX_REMEMBERED = 100_000;

async function makeSampler({ engine }: ServerContext, baseModel: string, checkpoint: CheckpointFiles | undefined): Promise<EngineSampler> {
  return engine.createSampler(checkpoint === undefined ? { baseModel } : { baseModel, checkpoint });
}

function remember(sampler: SamplerRecord, key: string, accepted: AcceptedOperation): void {
  sampler.accepted.set(key, accepted);
  for (const oldest of sampler.accepted.keys()) {
    if (sampler.accepted.size <= MAX_REMEMBERED) {
      break;
    }
    sampler.accepted.delete(oldest);
  }
}

/** The older form: the request itself names the weights, and nothing makes a repeat recognisable. */
function sampleDirectly(exchange: Exchange<'asample'>): ReturnType<OperationHandler<'asample'>> {
  const { context, request } = exchange;
  const { baseModel, checkpoint } = samplerSource(exchange as Exchange, request.baseModel, request.modelPath);
  const requestId = context.ids.request('sample', String(exchange.call.index));
  return startSample(exchange, requestId, '', baseModel, () => makeSampler(context, baseModel, checkpoint?.files));
}

function startSample(
  exchange: Exchange<'asample'>,
  requestId: string,
  sessionId: string,
  baseModel: string,
  engineOf: () => Promise<EngineSampler>,
): ReturnType<OperationHandler<'asample'>> {
  const { context, tenant, request } = exchange;
  const operation = newOperation(exchange as Exchange, {
    requestId,
    requestType: 'Sample',
    run: async () => {
      const engine = await engineOf();
      const response = await engine.sample(engineInput(request));
      noteUsage(exchange, sessionId, baseModel, response);
      return response;
    },
  });
  void context.executor.execute(tenant, operation);
  return promiseReply(exchange as Exchange, requestId, sequenceIds(exchange, requestId));
}

function engineInput(request: SampleRequest): Parameters<EngineSampler['sample']>[0] {
  return {
    prompt: request.prompt,
    numSamples: request.numSamples ?? 1,
    samplingParams: request.samplingParams ?? {},
    promptLogprobs: request.promptLogprobs ?? false,
    topkPromptLogprobs: request.topkPromptLogprobs ?? 0,
  };
}

function noteUsage(
  { context, tenant, request }: Exchange<'asample'>,
  sessionId: string,
  baseModel: string,
  response: SampleResponse,
): void {
  const nowMs = context.clock.now();
  const sampled = response.sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
  tenant.addUsage('sampling_prefill', request.prompt.length, nowMs, sessionId, baseModel);
  tenant.addUsage('sampling_sample', sampled, nowMs, sessionId, baseModel);
}

function sequenceIds({ context, request }: Exchange<'asample'>, requestId: string): Readonly<Record<string, unknown>> | undefined {
  if (!context.dialect.hasSequenceIds) {
    return undefined;
  }
  return { sample_sequence_ids: Array.from({ length: request.numSamples ?? 1 }, (_, index) => `${requestId}:${index}`) };
}

export const getSampler: OperationHandler<'getSampler'> = ({ tenant, params }) => {
  const samplerId = params['sampler_id'] ?? '';
  const sampler = tenant.samplers.get(samplerId);
  if (sampler === undefined) {
    refuse(404, `There is no sampler ${samplerId}`);
  }
  return jsonReply(200, { sampler_id: samplerId, base_model: sampler.baseModel, model_path: sampler.modelPath ?? null });
};
