import { createHash } from 'node:crypto';
import {
  ApiStatusError,
  type Datum,
  datum,
  type ForwardBackwardOutput,
  ModelInput,
  RequestFailedError,
  type SampleResponse,
  TensorData,
  type TopkLogprobs,
} from '@tinkex/types';
import { AdminClient, RestClient, type SamplingClient, type ServiceClient, type TrainingClient } from '../../src/index.js';
import type { FlowResults } from './conformance-flow.js';

const MODEL = 'tinkex/tiny';
const PROMPT = [10, 20, 30, 40];
const PARAMS = { maxTokens: 6, seed: 5, temperature: 0.9 };
const ADAM = { learningRate: 0.01 };
const DATA = [0, 1, 2].map((row) =>
  example(
    [0, 1, 2, 3, 4].map((place) => 7 * row + place),
    { weights: 1 },
  ),
);

/** What decides how the methods are called. */
interface MethodsInput {
  readonly service: ServiceClient;
  readonly clientOptions: { readonly baseUrl: string; readonly apiKey: string };
  /** Whether the Python SDK of the comparison has a step. */
  readonly has: (step: string) => boolean;
}

/** Does what `scripts/conformance/every_method.py` does, apart from its `_async` methods. Change both together. */
export async function conformanceMethods(input: MethodsInput): Promise<FlowResults> {
  const { service, clientOptions } = input;
  const { supportedModels } = await service.getServerCapabilities();
  const results: FlowResults = {
    capabilities: supportedModels.map(({ modelName }) => modelName),
    trainable: supportedModels.map(({ trainable, sampleable }) => [trainable, sampleable]),
  };
  const trained = await trainingMethods(input, results);
  const { training, state, sampler } = trained;
  await newerLosses(input, training, results);
  if (input.has('dimuon')) await dimuon(service, results);
  await samplingMethods(input, training, sampler, results);
  if (input.has('custom')) await customLosses(input, training, results);
  await using rest = new RestClient(clientOptions);
  await using admin = new AdminClient(clientOptions);
  if (input.has('external')) await externalWeights(input, training, rest, results);
  await restMethods({ ...input, rest, admin, state, sampler, modelId: training.modelId }, results);
  return results;
}

async function trainingMethods({ service, has }: MethodsInput, results: FlowResults) {
  const training = await service.createLoraTrainingClient({ baseModel: MODEL, rank: 4, seed: 11 });
  const { modelData } = await training.getInfo();
  results['info'] = [modelData.modelName, modelData.arch];
  results['forward'] = losses(await training.forward(DATA, 'cross_entropy'));
  const steps = [];
  for (let step = 0; step < 2; step++) {
    steps.push(losses(await training.forwardBackward(DATA, 'cross_entropy')));
    await training.optimStep(ADAM);
  }
  results['adam'] = steps;
  const policy = [example([5, 6, 7, 8], { logprobs: -1, advantages: 0.5 })];
  const policies: FlowResults = {};
  for (const name of ['importance_sampling', 'ppo', 'cispo', 'dro'] as const) policies[name] = losses(await training.forward(policy, name));
  results['policies'] = policies;
  results['unknownLoss'] = await refusal(() => training.forward(DATA, 'no_such_loss'));
  const { path: state } = await training.saveState('state');
  const { path: sampler } = await training.saveWeightsForSampler('sampler');
  results['from state'] = losses(await (await service.createTrainingClientFromState(state)).forward(DATA, 'cross_entropy'));
  const resumed = await service.createTrainingClientFromStateWithOptimizer(state);
  await resumed.forwardBackward(DATA, 'cross_entropy');
  await resumed.optimStep(ADAM);
  results['with optimizer'] = losses(await resumed.forward(DATA, 'cross_entropy'));
  results['load'] = [await refusal(() => training.loadState(state)), await refusal(() => training.loadStateWithOptimizer(state))];
  if (has('metadata')) await training.saveState('noted', { userMetadata: { note: 'yes' } });
  if (has('console')) results['console'] = [service.consoleUrl, training.consoleUrl];
  return { training, state, sampler };
}

async function newerLosses({ has }: MethodsInput, training: TrainingClient, results: FlowResults): Promise<void> {
  const masked = [example([5, 6, 7, 8], { logprobs: -1, advantages: 0.5, sequenceRatioMask: 1 })];
  if (has('gspo')) results['gspo'] = losses(await training.forward(masked, 'gspo'));
  if (has('stable_reinforce')) results['stable_reinforce'] = await refusal(() => training.forward(DATA, 'stable_reinforce'));
}

async function dimuon(service: ServiceClient, results: FlowResults): Promise<void> {
  const optimizer = { type: 'dimuon' } as const;
  const training = await service.createLoraTrainingClient({ baseModel: MODEL, rank: 4, seed: 12, optimizer });
  const step = { type: 'dimuon', learningRate: 0.02 } as const;
  const found = [];
  for (let count = 0; count < 2; count++) {
    found.push(losses(await training.forwardBackward(DATA, 'cross_entropy')));
    await training.optimStep(step);
  }
  const { path } = await training.saveState('dimuon');
  const resumed = await service.createTrainingClientFromStateWithOptimizer(path);
  found.push(losses(await resumed.forwardBackward(DATA, 'cross_entropy')));
  await resumed.optimStep(step);
  found.push(losses(await resumed.forward(DATA, 'cross_entropy')));
  const fresh = await service.createTrainingClientFromState(path, { optimizer });
  await fresh.forwardBackward(DATA, 'cross_entropy');
  await fresh.optimStep(step);
  results['dimuon'] = found;
  results['mismatch'] = await refusal(() => resumed.optimStep({ learningRate: 0.01, beta2: 0.95 }));
}

async function samplingMethods(input: MethodsInput, training: TrainingClient, path: string, results: FlowResults): Promise<void> {
  const { service } = input;
  const tuned = await training.createSamplingClient(path);
  const base = await service.createSamplingClient({ baseModel: MODEL });
  const one = await tuned.sample({
    prompt: PROMPT,
    numSamples: 2,
    samplingParams: PARAMS,
    includePromptLogprobs: true,
    topkPromptLogprobs: 3,
  });
  results['samples'] = tokensOf(one);
  results['sample logprobs'] = one.sequences.map(({ logprobs = [] }) => withNulls(logprobs));
  results['prompt'] = [withNulls(one.promptLogprobs ?? []), pairs(one.topkPromptLogprobs)];
  results['stop reasons'] = one.sequences.map(({ stopReason }) => stopReason);
  results['computed'] = withNulls(await base.computeLogprobs(PROMPT));
  results['base model'] = await base.getBaseModel();
  results['copy'] = tokensOf(await (await service.attachSamplingClient(base.toJSON())).sample({ prompt: PROMPT, samplingParams: PARAMS }));
  const unnamed = await training.saveWeightsAndGetSamplingClient();
  results['unnamed'] = tokensOf(await unnamed.sample({ prompt: PROMPT, samplingParams: { maxTokens: 4, temperature: 0 } }));
  await newerSampling(input, base, results);
}

async function newerSampling({ service, has }: MethodsInput, base: SamplingClient, results: FlowResults): Promise<void> {
  const call = { prompt: PROMPT, samplingParams: PARAMS };
  const steps: Record<string, () => Promise<unknown>> = {
    'has ids': async () => (await base.sample({ ...call, numSamples: 2 })).sequences.map(({ sequenceId }) => (sequenceId ?? '') !== ''),
    'no stop': async () => {
      const { sequences } = await base.sample({ prompt: PROMPT, samplingParams: { maxTokens: 60, seed: 1, stop: [] } });
      return sequences[0]?.tokens.length;
    },
    'topk samples': async () => (await base.sample({ ...call, topkSampleLogprobs: 2 })).sequences.map((one) => pairs(one.topkLogprobs)),
    targets: async () => {
      const targetPromptLogprobs = new TensorData({ data: BigInt64Array.of(1n, 2n, 3n, -1n, 5n, 6n), dtype: 'int64', shape: [3, 2] });
      return withNulls((await base.sample({ ...call, targetPromptLogprobs })).targetPromptLogprobs?.data as Float32Array);
    },
    alternatives: async () => {
      const drawn = (await base.sample({ ...call, promptAltTokensK: 2 })).promptAltTokens;
      return [drawn?.tokens.toArray(), drawn?.logprobs.shape];
    },
    'last n': async () => withNulls(await base.computeLogprobs(PROMPT, { lastN: 2 })),
    'last 0': () => refusal(() => base.computeLogprobs(PROMPT, { lastN: 0 })),
    recording: async () => {
      const recording = await service.createSamplingClient({ baseModel: MODEL, recordStabilityInfo: true });
      return tokensOf(await recording.sample(call));
    },
    handle: async () => {
      const taken = await service.attachSamplingClient(JSON.parse(JSON.stringify(base)));
      return tokensOf(await taken.sample(call));
    },
  };
  for (const [name, step] of Object.entries(steps)) if (has(name)) results[name] = await step();
}

async function customLosses({ service, has }: MethodsInput, training: TrainingClient, results: FlowResults): Promise<void> {
  const { metrics } = await training.forwardBackwardCustom(DATA, (_data, logprobs) => {
    const total = -logprobs.flatMap((row) => [...row.data]).reduce((sum, value) => sum + value, 0);
    return { loss: total, gradients: logprobs.map((row) => new Float32Array(row.data.length).fill(-1)), metrics: { total } };
  });
  results['custom'] = metrics['total'];
  if (!has('traced')) return;
  const handle = await service.createCustomLoss(
    (logprobs, { weights }) => ({
      loss: logprobs.exp().mul(weights).sum().neg(),
      metrics: { 'custom/mass:sum': logprobs.mul(weights).sum() },
    }),
    { inputs: { weights: 1 } },
  );
  const output = await training.forwardBackwardCustom(DATA, handle);
  results['traced'] = Object.fromEntries(Object.entries(losses(output)).filter(([name]) => /^(loss|custom)/.test(name)));
}

async function externalWeights({ service, has }: MethodsInput, training: TrainingClient, rest: RestClient, results: FlowResults) {
  const { path } = await training.saveWeightsExternal('export', { ttlSeconds: 3600 });
  const { urls } = await rest.getExternalWeightsUrls(path);
  const digests: FlowResults = {};
  for (const [name, url] of Object.entries(urls).sort()) {
    const bytes = await (await fetch(url)).arrayBuffer();
    digests[name] = createHash('sha256').update(new Uint8Array(bytes)).digest('hex');
  }
  results['external'] = digests;
  if (!has('copies')) return;
  const copies = [await service.copyWeights(path), await rest.copyWeights(path, { destinationProjectId: 'p' })];
  results['copies'] = copies.map((copy) => copy.path.split('/').slice(-2));
}

interface RestInput extends MethodsInput {
  readonly rest: RestClient;
  readonly admin: AdminClient;
  readonly modelId: string;
  readonly state: string;
  readonly sampler: string;
}

async function restMethods({ rest, admin, has, modelId, state, sampler }: RestInput, results: FlowResults): Promise<void> {
  const [sessionId = ''] = modelId.split(':');
  results['run'] = [(await rest.getTrainingRun(modelId)).loraRank, (await rest.getTrainingRunByTinkerPath(state)).baseModel];
  results['runs'] = (await rest.listTrainingRuns({ limit: 1, offset: 1 })).cursor?.offset;
  const { checkpoints } = await rest.listCheckpoints(modelId);
  results['checkpoints'] = checkpoints.map((one) => [one.checkpointId, one.checkpointType, one.public]).sort();
  results['metadata'] = checkpoints.flatMap(({ userMetadata = {} }) => (Object.keys(userMetadata).length > 0 ? [userMetadata] : []));
  results['all checkpoints'] = (await rest.listUserCheckpoints({ limit: 50 })).checkpoints.length;
  results['weights'] = [(await rest.getWeightsInfoByTinkerPath(state)).loraRank];
  await rest.publishCheckpointFromTinkerPath(sampler);
  const published = (await rest.listCheckpoints(modelId)).checkpoints.filter(({ tinkerPath }) => tinkerPath === sampler);
  results['published'] = published.map((one) => one.public);
  await rest.unpublishCheckpointFromTinkerPath(sampler);
  await rest.setCheckpointTtlFromTinkerPath(sampler, 7200);
  await rest.setCheckpointTtlFromTinkerPath(sampler, null);
  results['bad time'] = await refusal(() => rest.setCheckpointTtlFromTinkerPath(sampler, 5));
  const { trainingRunIds, samplerIds } = await rest.getSession(sessionId);
  results['session'] = [[...trainingRunIds].sort(), [...samplerIds].sort()];
  results['sampler'] = [(await rest.getSampler([...samplerIds].sort()[0] ?? '')).baseModel];
  results['sessions'] = (await rest.listSessions({ limit: 1 })).sessions;
  await rest.assignSessionProject(sessionId, 'other');
  results['trace'] = (await (await fetch(await rest.exportSessionTrace(sessionId))).arrayBuffer()).byteLength > 0;
  results['whoami'] = await refusal(() => rest.whoami());
  results['missing'] = await refusal(() => rest.getTrainingRun('sess-none:train:0'));
  if (has('search')) {
    const { sessions } = await rest.searchSessions({ limit: 5 });
    results['search'] = sessions.map((one) => [one.sessionId, one.checkpointsCount, one.displayName]);
  }
  const { entries } = await admin.getAuditLog();
  const { data } = await admin.getBillingUsage('2026-01-01', '2026-01-02');
  results['admin'] = [[...new Set(entries.map(({ event }) => event))].sort(), data.length];
  const usage = await admin.getCurrentCheckpointStorageUsage();
  results['storage'] = usage.data.map((item) => [item.projectId, item.checkpointCount, item.sizeBytes]).sort();
}

/** The status with which the server refuses a call, `failed` for a failed future, or `local` for a call that was not sent. */
async function refusal(call: () => PromiseLike<unknown>): Promise<number | string> {
  try {
    await call();
    return 'accepted';
  } catch (error) {
    if (ApiStatusError.isInstance(error)) return error.status;
    return RequestFailedError.isInstance(error) ? 'failed' : 'local';
  }
}

function example(tokens: readonly number[], filled: Readonly<Record<string, number>>): Datum {
  const targets = tokens.slice(1);
  const tensors = Object.entries(filled).map(([name, value]) => [
    name,
    TensorData.fromArray(
      targets.map(() => value),
      'float32',
    ),
  ]);
  return datum({
    modelInput: ModelInput.fromInts(tokens.slice(0, -1)),
    lossFnInputs: { targetTokens: TensorData.fromArray(targets, 'int64'), ...Object.fromEntries(tensors) },
  });
}

function losses({ metrics }: ForwardBackwardOutput): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const tokensOf = ({ sequences }: SampleResponse): number[][] => sequences.map(({ tokens }) => [...tokens]);
const withNulls = (values: ArrayLike<number>) => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
const pairs = (topk: TopkLogprobs | undefined) => topk?.toList() ?? null;
