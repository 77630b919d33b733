import type { SampleResponse } from '@tinkex/types';
import type { SampleRequest } from '@tinkex/types/wire';
import type { Dialect } from '../dialects/dialect.js';
import type { CheckpointFiles, EngineSampler } from '../engine/engine.js';
import { textFingerprint } from '../requests/fingerprint.js';
import { jsonReply, refuse } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import type { AcceptedOperation, CheckpointRecord, SamplerRecord } from '../state/records.js';
import { findCheckpoint, type ServerContext } from '../state/server-context.js';
import { samplerOf, sessionOf } from './lookup.js';
import { requireBaseModel } from './models.js';
import { completionLogOf, holderOf } from './session-futures.js';
import { futureReply, newOperation } from './submit.js';

export const createSamplingSession: RouteHandler<'createSamplingSession'> = (context) => {
  const { sessionId, samplingSessionSeqId, baseModel, modelPath } = context.request;
  const session = sessionOf(context, sessionId);
  const fingerprint = textFingerprint(JSON.stringify([baseModel, modelPath]));
  const known = session.samplerSeqs.get(samplingSessionSeqId);
  if (known !== undefined && known.fingerprint !== fingerprint) {
    const text = `sampling_session_seq_id ${samplingSessionSeqId} of ${sessionId} was used before with a different body`;
    context.reject(409, 'seq-conflict', text);
  }
  if (known !== undefined) return jsonReply(200, { type: 'create_sampling_session', sampling_session_id: known.samplerId });
  const source = samplerSource(context, baseModel, modelPath);
  const samplerId = context.server.ids.sampler(sessionId, samplingSessionSeqId);
  addSampler(context, { samplerId, sessionId, ...source });
  session.samplerSeqs.set(samplingSessionSeqId, { fingerprint, samplerId });
  context.tenant.changed('session', sessionId);
  return jsonReply(200, { type: 'create_sampling_session', sampling_session_id: samplerId });
};

/** The weights that a request names. Answers 400 when it names none, 404 for a path that does not exist. */
function samplerSource(
  context: RequestContext,
  baseModel: string | undefined,
  modelPath: string | undefined,
): { readonly baseModel: string; readonly checkpoint: CheckpointRecord | undefined } {
  if (modelPath === undefined) {
    if (baseModel === undefined) context.reject(400, 'sampler-source', 'Name a base_model or a model_path');
    requireBaseModel(context, baseModel);
    return { baseModel, checkpoint: undefined };
  }
  if (!modelPath.startsWith('tinker://')) context.reject(400, 'sampler-source', `model_path must start with tinker://, got ${modelPath}`);
  const checkpoint = findCheckpoint(context.server, context.tenant, modelPath);
  if (checkpoint === undefined) refuse(404, `There is no checkpoint ${modelPath}`);
  return { baseModel: checkpoint.baseModel, checkpoint };
}

/** Adds a sampler of fixed weights. */
export function addSampler(
  { tenant }: RequestContext,
  init: {
    readonly samplerId: string;
    readonly sessionId: string;
    readonly baseModel: string;
    readonly checkpoint: (Pick<CheckpointRecord, 'files'> & { readonly path?: string | undefined }) | undefined;
  },
): SamplerRecord {
  const { samplerId, sessionId, baseModel, checkpoint } = init;
  const sampler: SamplerRecord = {
    samplerId,
    sessionId,
    baseModel,
    modelPath: checkpoint?.path,
    accepted: new Map(),
    completions: new Map(),
    copies: 0,
    files: checkpoint?.files,
    engine: undefined,
  };
  tenant.samplers.set(samplerId, sampler);
  tenant.changed('sampler', samplerId);
  return sampler;
}

export const asample: RouteHandler<'asample'> = (context: RequestContext<'asample'>) => {
  const { server, tenant, request } = context;
  const { samplingSessionId, seqId } = request;
  checkSamplingParams(context);
  if (samplingSessionId === undefined) return sampleDirectly(context);
  const sampler = samplerOf(context, samplingSessionId);
  if (seqId === undefined) context.reject(422, 'seq-missing', 'asample with a sampling_session_id needs a seq_id');
  const key = String(seqId);
  const known = sampler.accepted.get(key);
  if (known !== undefined && known.fingerprint !== context.fingerprint) {
    context.reject(409, 'seq-conflict', `seq_id ${key} of ${samplingSessionId} was submitted before with a different body`);
  }
  if (known !== undefined && typeof tenant.futures.find(known.requestId) === 'object') {
    if (server.dialect.repeat === 'conflict') refuse(409, `seq_id ${key} of ${samplingSessionId} was submitted before`);
    return futureReply(context, known.requestId, sequenceIds(context, known.requestId));
  }
  // A sample whose future is gone may be submitted again under the same sequence ID: it has no side effects.
  const requestId = known?.requestId ?? server.ids.request(samplingSessionId, key);
  remember(sampler, key, { fingerprint: context.fingerprint, requestId });
  const engineOf = () => {
    sampler.engine ??= makeSampler(server, sampler.baseModel, sampler.files);
    return sampler.engine;
  };
  const reply = startSample(context, requestId, sampler.sessionId, sampler.baseModel, engineOf);
  const log = completionLogOf(tenant, sampler, holderOf(seqId));
  tenant.futures.onEnd(requestId, (state) => log.add({ requestId, state }));
  return reply;
};

const MAX_REMEMBERED = 100_000;

async function makeSampler({ engine }: ServerContext, baseModel: string, checkpoint: CheckpointFiles | undefined): Promise<EngineSampler> {
  return engine.createSampler({ baseModel, checkpoint });
}

function remember(sampler: SamplerRecord, key: string, accepted: AcceptedOperation): void {
  sampler.accepted.set(key, accepted);
  for (const oldest of sampler.accepted.keys()) {
    if (sampler.accepted.size <= MAX_REMEMBERED) break;
    sampler.accepted.delete(oldest);
  }
}

/** The older form: the request itself names the weights, and a repeat cannot be recognized. */
function sampleDirectly(context: RequestContext<'asample'>): ReturnType<RouteHandler<'asample'>> {
  const { server, request } = context;
  const { baseModel, checkpoint } = samplerSource(context, request.baseModel, request.modelPath);
  const requestId = server.ids.request('sample', String(context.call.index));
  return startSample(context, requestId, '', baseModel, () => makeSampler(server, baseModel, checkpoint?.files));
}

function startSample(
  context: RequestContext<'asample'>,
  requestId: string,
  sessionId: string,
  baseModel: string,
  engineOf: () => Promise<EngineSampler>,
): ReturnType<RouteHandler<'asample'>> {
  const { server, tenant, request } = context;
  const operation = newOperation(context, requestId, 'Sample', async () => {
    const engine = await engineOf();
    const response = await engine.sample(engineInput(request, server.dialect));
    noteUsage(context, sessionId, baseModel, response);
    return response;
  });
  void server.executor.execute(tenant, operation);
  return futureReply(context, requestId, sequenceIds(context, requestId));
}

/** Refuses what the dialect does not take: a sample without a limit, or a stop that is not a list. */
function checkSamplingParams({ server, request }: RequestContext<'asample'>): void {
  const { isMaxTokensRequired, stops } = server.dialect;
  const { maxTokens, stop } = request.samplingParams ?? {};
  if (stops === 'lists' && typeof stop === 'string') refuse(422, 'stop must be a list');
  if (isMaxTokensRequired && maxTokens === undefined) refuse(400, 'max_tokens is required');
}

function engineInput(request: SampleRequest, { stops }: Dialect): Parameters<EngineSampler['sample']>[0] {
  const { samplingParams = {} } = request;
  return {
    prompt: request.prompt,
    numSamples: request.numSamples ?? 1,
    samplingParams: stops === 'ignored' ? { ...samplingParams, stop: [] } : samplingParams,
    promptLogprobs: request.promptLogprobs ?? false,
    topkPromptLogprobs: request.topkPromptLogprobs ?? 0,
    topkSampleLogprobs: request.topkSampleLogprobs,
    targetPromptLogprobs: request.targetPromptLogprobs,
    promptAltTokensK: request.promptAltTokensK,
    promptLogprobsLastN: request.promptLogprobsLastN,
  };
}

function noteUsage(
  { server, tenant, request }: RequestContext<'asample'>,
  sessionId: string,
  baseModel: string,
  response: SampleResponse,
): void {
  const nowMs = server.clock.wallMs();
  const sampled = response.sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
  tenant.addUsage('sampling_prefill', request.prompt.length, nowMs, sessionId, baseModel);
  tenant.addUsage('sampling_sample', sampled, nowMs, sessionId, baseModel);
}

function sequenceIds({ server, request }: RequestContext<'asample'>, requestId: string): Readonly<Record<string, unknown>> | undefined {
  if (!server.dialect.hasSequenceIds) return undefined;
  return { sample_sequence_ids: Array.from({ length: request.numSamples ?? 1 }, (_, index) => `${requestId}:${index}`) };
}

export const getSampler: RouteHandler<'getSampler'> = ({ tenant, params }) => {
  const samplerId = params['sampler_id'] ?? '';
  const sampler = tenant.samplers.get(samplerId);
  if (sampler === undefined) refuse(404, `There is no sampler ${samplerId}`);
  return jsonReply(200, { sampler_id: samplerId, base_model: sampler.baseModel, model_path: sampler.modelPath ?? null });
};
