import { type Datum, datum, type ForwardBackwardOutput, ModelInput, type SampleResponse, TensorData } from '@tinkex/types';
import type { SamplingClient, ServiceClient, TrainingClient } from '../../src/index.js';

const MODEL = 'tinkex/tiny';
const ADAM = { learningRate: 0.01, weightDecay: 0.1, gradClipNorm: 1 };

/** What came back, in the shape that the Python scenario prints. */
export type FlowResults = Record<string, unknown>;

/** Does what `scripts/conformance/scenario.py` does, call for call. Change both together. */
export async function conformanceFlow(service: ServiceClient, { hasCustomLoss = false } = {}): Promise<FlowResults> {
  const results: FlowResults = {};
  const { supportedModels } = await service.getServerCapabilities();
  results['models'] = supportedModels.map(({ modelName, maxContextLength }) => [modelName, maxContextLength]);
  const { training, data } = await train(service, results);
  if (hasCustomLoss) await customLoss(training, data, results);
  const paths = await saveAndResume(service, training, data, results);
  await sample(service, training, paths.sampler, results);
  await manage(service, training.modelId, paths, results);
  return results;
}

async function train(service: ServiceClient, results: FlowResults): Promise<{ training: TrainingClient; data: Datum[] }> {
  const training = await service.createLoraTrainingClient({
    baseModel: MODEL,
    rank: 4,
    seed: 7,
    trainUnembed: false,
    userMetadata: { purpose: 'conformance' },
  });
  results['modelId'] = (await training.getInfo()).modelId;
  const data = range(7).map((row) => nextToken(range(6).map((place) => (3 * row + 5 * place) % 200)));
  const first = training.forwardBackward(data, 'cross_entropy');
  const step = training.optimStep(ADAM);
  const second = training.forwardBackward(data, 'cross_entropy');
  const nextStep = training.optimStep(ADAM);
  const forward = training.forward(data.slice(0, 2), 'cross_entropy');
  await Promise.all([step, nextStep]);
  results['losses'] = [losses(await first), losses(await second), losses(await forward)];
  results['logprobs'] = (await forward).lossFnOutputs.map(({ logprobs }) => logprobs?.toArray());
  const lossFnConfig = { clip_low_threshold: 0.75, clip_high_threshold: 1.25 };
  results['ppo'] = losses(await training.forwardBackward([policy([9, 8, 7, 6])], 'ppo', { lossFnConfig }));
  await training.optimStep({ learningRate: 0.01 });
  return { training, data };
}

/** The negated sum of all logprobs; its gradient is -1 everywhere. */
async function customLoss(training: TrainingClient, data: Datum[], results: FlowResults): Promise<void> {
  const { metrics } = await training.forwardBackwardCustom(data.slice(0, 2), (_data, logprobs) => {
    const total = -logprobs.flatMap((row) => [...row.data]).reduce((sum, value) => sum + value, 0);
    return { loss: total, gradients: logprobs.map((row) => new Float32Array(row.data.length).fill(-1)), metrics: { total } };
  });
  results['customTotal'] = metrics['total'];
  await training.optimStep({ learningRate: 0.01 });
}

async function saveAndResume(
  service: ServiceClient,
  training: TrainingClient,
  data: Datum[],
  results: FlowResults,
): Promise<{ state: string; sampler: string }> {
  const { path: state } = await training.saveState('state-1');
  await training.saveState('state-1', { ttlSeconds: 3600, overwrite: true });
  const { path: sampler } = await training.saveWeightsForSampler('sampler-1', { ttlSeconds: 7200 });
  await training.loadState(state);
  await training.loadStateWithOptimizer(state);
  const exact = await service.createTrainingClientFromStateWithOptimizer(state);
  const fresh = await service.createTrainingClientFromState(state, { userMetadata: { purpose: 'branch' } });
  results['paths'] = [state, sampler];
  results['resumed'] = [];
  for (const client of [exact, fresh])
    (results['resumed'] as unknown[]).push(losses(await client.forward(data.slice(0, 1), 'cross_entropy')));
  return { state, sampler };
}

async function sample(service: ServiceClient, training: TrainingClient, modelPath: string, results: FlowResults): Promise<void> {
  const prompt = ModelInput.empty()
    .append({ type: 'encoded_text', tokens: Int32Array.of(10, 20) })
    .append({ type: 'encoded_text', tokens: Int32Array.of(30) });
  const tuned = await service.createSamplingClient({ modelPath });
  const base = await service.createSamplingClient({ baseModel: MODEL });
  const one = await tuned.sample({
    prompt,
    numSamples: 2,
    samplingParams: { maxTokens: 5, seed: 3, temperature: 0.7, topK: 20, topP: 0.9, stop: [0] },
  });
  const two = await base.sample({
    prompt,
    numSamples: 1,
    samplingParams: { maxTokens: 3, seed: 4, stop: ['zz'] },
    includePromptLogprobs: true,
    topkPromptLogprobs: 2,
  });
  results['samples'] = [...tokensOf(one), ...tokensOf(two)];
  results['promptLogprobs'] = withNulls(two.promptLogprobs ?? new Float32Array());
  results['computed'] = withNulls(await base.computeLogprobs(prompt));
  const unnamed: SamplingClient = await training.saveWeightsAndGetSamplingClient();
  results['greedy'] = tokensOf(await unnamed.sample({ prompt, numSamples: 1, samplingParams: { maxTokens: 4, temperature: 0 } }))[0];
  results['baseModel'] = await unnamed.getBaseModel();
}

async function manage(
  service: ServiceClient,
  modelId: string,
  paths: { state: string; sampler: string },
  results: FlowResults,
): Promise<void> {
  const rest = service.createRestClient();
  const { state, sampler } = paths;
  const run = await rest.getTrainingRun(modelId);
  results['run'] = [run.trainingRunId, run.baseModel, run.loraRank];
  results['runCount'] = (await rest.listTrainingRuns({ limit: 2, offset: 0 })).trainingRuns.length;
  await rest.getTrainingRunByTinkerPath(state);
  results['checkpoints'] = (await rest.listCheckpoints(modelId)).checkpoints.map(({ checkpointId }) => checkpointId).sort();
  results['userCheckpoints'] = (await rest.listUserCheckpoints({ limit: 10 })).checkpoints.length;
  results['weightsInfo'] = (await rest.getWeightsInfoByTinkerPath(state)).baseModel;
  await rest.publishCheckpointFromTinkerPath(sampler);
  await rest.unpublishCheckpointFromTinkerPath(sampler);
  await rest.setCheckpointTtlFromTinkerPath(sampler, 3600);
  await rest.setCheckpointTtlFromTinkerPath(sampler, null);
  const { url } = await rest.getCheckpointArchiveUrlFromTinkerPath(sampler);
  const archive = await fetch(url);
  results['archiveIsTar'] = (await archive.arrayBuffer()).byteLength % 512 === 0;
  const [sessionId = ''] = modelId.split(':');
  results['session'] = [...(await rest.getSession(sessionId)).trainingRunIds].sort();
  results['sessions'] = (await rest.listSessions({ limit: 5 })).sessions;
  await rest.deleteCheckpointFromTinkerPath(sampler);
}

function nextToken(tokens: readonly number[]): Datum {
  return shifted(tokens, {
    weights: TensorData.fromArray(
      tokens.slice(1).map(() => 1),
      'float32',
    ),
  });
}

function policy(tokens: readonly number[]): Datum {
  const filled = (value: number) =>
    TensorData.fromArray(
      tokens.slice(1).map(() => value),
      'float32',
    );
  return shifted(tokens, { logprobs: filled(-1.5), advantages: filled(0.5) });
}

function shifted(tokens: readonly number[], inputs: Record<string, TensorData>): Datum {
  return datum({
    modelInput: ModelInput.fromInts(tokens.slice(0, -1)),
    lossFnInputs: { targetTokens: TensorData.fromArray(tokens.slice(1), 'int64'), ...inputs },
  });
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const losses = ({ metrics }: ForwardBackwardOutput) => Object.fromEntries(Object.entries(metrics).sort(([a], [b]) => (a < b ? -1 : 1)));
const tokensOf = ({ sequences }: SampleResponse): number[][] => sequences.map(({ tokens }) => [...tokens]);
const withNulls = (values: Float32Array): (number | null)[] => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
