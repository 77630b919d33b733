import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  CallOptions,
  CustomLoss,
  SampleInput,
  SamplingClient,
  ServiceClient,
  TrainingClient,
} from '../../../packages/clients/src/index.js';
import {
  type Datum,
  datum,
  type ForwardBackwardOutput,
  lossOf,
  ModelInput,
  nextTokenDatum,
  type SampleResponse,
} from '../../../packages/types/src/index.js';

/** What the features run on, and what earlier features left for later ones. */
export interface FeatureContext {
  readonly service: ServiceClient;
  /** The same server with one unfinished operation at a time. */
  readonly patient: ServiceClient;
  readonly baseModel: string;
  /** Options of every call: when to give up. */
  readonly call: CallOptions;
  /** Filled by the features that create them. */
  readonly made: { training?: TrainingClient; base?: SamplingClient; statePath?: string; samplerPath?: string };
}

/** Numbers to compare with the Python SDK's, or nothing. */
export type FeatureValue = readonly number[] | undefined;

type Feature = (context: FeatureContext) => Promise<FeatureValue>;

const ROWS = Array.from({ length: 4 }, (_, row) => Array.from({ length: 8 }, (__, place) => (3 * row + 5 * place) % 200));
const DATA = ROWS.map((row) => nextTokenDatum(row));
const POLICY = ROWS.map(policyDatum);
const PROMPT = ModelInput.fromInts([10, 20, 30, 40, 50, 60, 70, 80]);
const STEP = { learningRate: 0.01 };

/**
 * The public API, feature by feature, in the order in which they run. features.py does the same with the official Python SDK: change both together.
 */
export const FEATURES: Readonly<Record<string, Feature>> = {
  capabilities: quietly(({ service, call }) => service.getServerCapabilities(call)),
  'create a training run': quietly(async ({ service, baseModel, call, made }) => {
    made.training = await service.createLoraTrainingClient({ baseModel, rank: 8, seed: 1, ...call });
    await made.training.getInfo(call);
  }),
  'tokenizer of a model named by a path': quietly(async (context) => {
    const tokenizer = await trainingOf(context).getTokenizer(context.call);
    if (ModelInput.fromText('a', tokenizer).length !== 1) throw new Error('"a" is not one token');
  }),
  forward: async (context) => logprobsOf(await trainingOf(context).forward(DATA, 'cross_entropy', context.call)),
  forwardBackward: async (context) => logprobsOf(await trainingOf(context).forwardBackward(DATA, 'cross_entropy', context.call)),
  optimStep: quietly((context) => trainingOf(context).optimStep(STEP, context.call).result()),
  '20 steps': twentySteps,
  importance_sampling: (context) => policyPass(context, 'importance_sampling'),
  'ppo with a configuration': (context) => policyPass(context, 'ppo', { clip_low_threshold: 0.75, clip_high_threshold: 1.25 }),
  cispo: (context) => policyPass(context, 'cispo'),
  dro: (context) => policyPass(context, 'dro', { beta: 0.1 }),
  'custom loss': quietly((context) => trainingOf(context).forwardBackwardCustom(DATA, sumOfLogprobs, context.call).result()),
  // After everything whose numbers are compared: how many steps a server skips is a matter of time.
  'passes and steps without awaiting': (context) => pipelined(trainingOf(context), context.call),
  'the same, one unfinished operation at a time': quietly(async ({ patient, baseModel, call }) => {
    const training = await patient.createLoraTrainingClient({ baseModel, rank: 8, seed: 2, ...call });
    await pipelined(training, call);
    await training.unload(call);
  }),
  saveState: quietly(async (context) => {
    context.made.statePath = (await trainingOf(context).saveState('state', context.call)).path;
  }),
  'saveState, a name with a dot': quietly((context) => trainingOf(context).saveState('a.b', context.call).result()),
  'loadState into a trained run': quietly((context) =>
    trainingOf(context).loadStateWithOptimizer(statePathOf(context), context.call).result(),
  ),
  'training client from a state': quietly(async (context) => {
    const { service, call } = context;
    const there = logprobsOf(await trainingOf(context).forward(DATA, 'cross_entropy', call));
    const resumed = await service.createTrainingClientFromStateWithOptimizer(statePathOf(context), call);
    const here = logprobsOf(await resumed.forward(DATA, 'cross_entropy', call));
    if (there.some((value, index) => Math.abs(value - (here[index] ?? Number.NaN)) > 1e-4))
      throw new Error('the resumed run has other weights');
  }),
  'saveWeightsForSampler, sample from it': quietly(async (context) => {
    const { service, call, made } = context;
    made.samplerPath = (await trainingOf(context).saveWeightsForSampler('sampler', call)).path;
    const sampling = await service.createSamplingClient({ modelPath: made.samplerPath, ...call });
    await sampling.sample({ prompt: PROMPT, samplingParams: { maxTokens: 4 } }, call);
  }),
  saveWeightsAndGetSamplingClient: quietly(async (context) => {
    const { call } = context;
    const sampling = await trainingOf(context).saveWeightsAndGetSamplingClient(call);
    await sampling.sample({ prompt: PROMPT, samplingParams: { maxTokens: 4 } }, call);
  }),
  'greedy sample of the base model': async (context) => {
    const [sequence] = (await sampleBase(context, { samplingParams: { maxTokens: 6, temperature: 0 } })).sequences;
    return [...(sequence?.tokens ?? []), ...(sequence?.logprobs ?? [])];
  },
  'four samples with top-k, top-p, seed': quietly(async (context) => {
    const samplingParams = { maxTokens: 4, temperature: 1, seed: 1, topK: 20, topP: 0.9 };
    const { sequences } = await sampleBase(context, { numSamples: 4, samplingParams });
    if (sequences.length !== 4) throw new Error(`${sequences.length} samples`);
  }),
  'stop: one text': quietly((context) => sampleBase(context, { samplingParams: { maxTokens: 4, stop: 'a' } })),
  'stop: a list': quietly((context) => sampleBase(context, { samplingParams: { maxTokens: 4, stop: ['a', 'b'] } })),
  'sample without maxTokens': quietly((context) => sampleBase(context, { samplingParams: { temperature: 1 } })),
  'prompt logprobs': quietly(async (context) => {
    const { promptLogprobs } = await sampleBase(context, { samplingParams: { maxTokens: 1 }, includePromptLogprobs: true });
    requireEntries(promptLogprobs?.length);
  }),
  'likeliest prompt tokens': quietly(async (context) => {
    const options = { samplingParams: { maxTokens: 1 }, includePromptLogprobs: true, topkPromptLogprobs: 2 };
    requireEntries((await sampleBase(context, options)).topkPromptLogprobs?.length);
  }),
  computeLogprobs: async (context) => {
    const values = await (await baseOf(context)).computeLogprobs(PROMPT, context.call);
    requireEntries(values.length);
    return [...values].slice(1);
  },
  'list runs': quietly(({ service, call }) =>
    service
      .createRestClient()
      .listTrainingRuns({ limit: 2, ...call })
      .then(),
  ),
  'list checkpoints of a run': quietly((context) =>
    context.service.createRestClient().listCheckpoints(trainingOf(context).modelId, context.call).toArray(),
  ),
  'list all checkpoints': quietly(({ service, call }) =>
    service
      .createRestClient()
      .listUserCheckpoints({ limit: 2, ...call })
      .then(),
  ),
  'list sessions': quietly(({ service, call }) =>
    service
      .createRestClient()
      .listSessions({ limit: 2, ...call })
      .then(),
  ),
  'archive URL': quietly((context) => restWithPath(context, 'getCheckpointArchiveUrlFromTinkerPath')),
  downloadCheckpoint: quietly(download),
  publish: quietly((context) => restWithPath(context, 'publishCheckpointFromTinkerPath')),
  unpublish: quietly((context) => restWithPath(context, 'unpublishCheckpointFromTinkerPath')),
  'time to live': quietly(({ service, call, made }) =>
    service.createRestClient().setCheckpointTtlFromTinkerPath(required(made.samplerPath, 'sampler checkpoint'), 3600, call),
  ),
  'delete a checkpoint': quietly((context) => restWithPath(context, 'deleteCheckpointFromTinkerPath')),
  'saveState, the name exists': quietly((context) => trainingOf(context).saveState('state', context.call).result()),
  'unload, close': quietly(async (context) => {
    await trainingOf(context).unload(context.call);
    await context.service.close();
  }),
};

/** A feature that has nothing to compare. */
function quietly(run: (context: FeatureContext) => Promise<unknown>): Feature {
  return async (context) => {
    await run(context);
    return undefined;
  };
}

function policyDatum(tokens: readonly number[]): Datum {
  const count = tokens.length - 1;
  const lossFnInputs = {
    targetTokens: tokens.slice(1),
    logprobs: Array.from({ length: count }, () => -5),
    advantages: Array.from({ length: count }, () => 0.5),
  };
  return datum({ modelInput: ModelInput.fromInts(tokens.slice(0, -1)), lossFnInputs });
}

async function policyPass(context: FeatureContext, lossFn: string, lossFnConfig?: Readonly<Record<string, number>>): Promise<number[]> {
  const { call } = context;
  return logprobsOf(await trainingOf(context).forwardBackward(POLICY, lossFn, { lossFnConfig, ...call }));
}

async function twentySteps(context: FeatureContext): Promise<number[]> {
  const losses: number[] = [];
  for (let step = 0; step < 20; step++) {
    losses.push(finiteLoss(await trainingOf(context).forwardBackward(DATA, 'cross_entropy', context.call)));
    await trainingOf(context).optimStep(STEP, context.call);
  }
  if (!((losses.at(-1) ?? Number.NaN) < (losses[0] ?? Number.NaN))) throw new Error(`the loss does not fall: ${losses.join(' ')}`);
  return losses;
}

/** A server may run queued steps before the passes between them, without a gradient. Then two passes see the same weights. */
async function pipelined(training: TrainingClient, call: CallOptions): Promise<number[]> {
  const passes = Array.from({ length: 3 }, () => {
    const pass = training.forwardBackward(DATA, 'cross_entropy', call);
    return { pass, step: training.optimStep(STEP, call) };
  });
  for (const { step } of passes) await step;
  const losses = await Promise.all(passes.map(async ({ pass }) => finiteLoss(await pass)));
  if (losses.some((loss, index) => loss === losses[index - 1])) throw new Error('the server skipped a step that waited behind its pass');
  return losses;
}

const sumOfLogprobs: CustomLoss = (_, logprobs) => {
  const loss = -logprobs.flatMap(({ data }) => [...data]).reduce((sum, value) => sum + value, 0);
  return { loss, gradients: logprobs.map(({ data }) => new Float32Array(data.length).fill(-1)) };
};

function finiteLoss(output: ForwardBackwardOutput): number {
  const loss = lossOf(output, DATA);
  if (loss === undefined || !Number.isFinite(loss)) throw new Error(`the loss is ${loss}`);
  return loss;
}

function logprobsOf({ lossFnOutputs }: ForwardBackwardOutput): number[] {
  return lossFnOutputs.flatMap((output) => (output['logprobs']?.toArray() ?? []) as number[]);
}

function requireEntries(count: number | undefined): void {
  if (count !== PROMPT.length) throw new Error(count === undefined ? 'absent' : `${count} entries for ${PROMPT.length} tokens`);
}

async function sampleBase(context: FeatureContext, input: Omit<SampleInput, 'prompt'>): Promise<SampleResponse> {
  return (await baseOf(context)).sample({ prompt: PROMPT, ...input }, context.call);
}

async function baseOf({ service, baseModel, call, made }: FeatureContext): Promise<SamplingClient> {
  made.base ??= await service.createSamplingClient({ baseModel, ...call });
  return made.base;
}

async function download({ service, call, made }: FeatureContext): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'tinkex-engines-'));
  try {
    const path = required(made.samplerPath, 'sampler checkpoint');
    // The server is on this machine: what it names on its disk may be read.
    await service.createRestClient().downloadCheckpoint(path, { directory, overwrite: true, allowLocalFiles: true, ...call });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

type PathMethod =
  | 'getCheckpointArchiveUrlFromTinkerPath'
  | 'publishCheckpointFromTinkerPath'
  | 'unpublishCheckpointFromTinkerPath'
  | 'deleteCheckpointFromTinkerPath';

function restWithPath({ service, call, made }: FeatureContext, method: PathMethod): Promise<unknown> {
  return service.createRestClient()[method](required(made.samplerPath, 'sampler checkpoint'), call);
}

function trainingOf({ made }: FeatureContext): TrainingClient {
  return required(made.training, 'training run');
}

function statePathOf({ made }: FeatureContext): string {
  return required(made.statePath, 'saved state');
}

function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}
