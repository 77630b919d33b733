import { type Datum, datum, ModelInput, type SampledSequence, type SamplingParams } from '@tinkex/types';
import { type Engine, type EngineModel, type EngineSampler, learnEngine } from '../../src/index.js';

/** A model with a vocabulary of 151,936 tokens, and its end token. */
export const QWEN = 'Qwen/Qwen3-8B';
export const IM_END = 151_645;

export interface RecallSetup {
  readonly baseModel?: string;
  readonly rank?: number;
  readonly samplingSeed?: number;
  readonly anyModel?: boolean;
  readonly trainAttn?: boolean;
  readonly trainMlp?: boolean;
  readonly trainUnembed?: boolean;
  readonly optimizer?: 'adamw' | 'dimuon';
}

/** A new engine with one model. */
export async function recall({ baseModel = QWEN, rank = 8, samplingSeed, anyModel, optimizer = 'adamw', ...flags }: RecallSetup = {}) {
  const engine = learnEngine({ seed: samplingSeed, anyModel });
  const lora = { rank, trainAttn: true, trainMlp: true, trainUnembed: true, ...flags };
  return { engine, model: await engine.createModel({ baseModel, lora, optimizer: { type: optimizer } }) };
}

/** A sampler of the present weights. */
export async function samplerOf(engine: Engine, model: EngineModel, baseModel = QWEN): Promise<EngineSampler> {
  return engine.createSampler({ baseModel, checkpoint: await model.save('sampler') });
}

/** The samples of a prompt. */
export async function sampleTokens(
  sampler: EngineSampler,
  prompt: readonly number[],
  samplingParams: SamplingParams,
  numSamples = 1,
): Promise<readonly SampledSequence[]> {
  const { sequences } = await sampler.sample({
    prompt: ModelInput.fromInts([...prompt]),
    numSamples,
    samplingParams,
    promptLogprobs: false,
    topkPromptLogprobs: 0,
  });
  return sequences;
}

/** Trains the answer and not the prompt. */
export function questionDatum(prompt: readonly number[], answer: readonly number[]): Datum {
  const all = [...prompt, ...answer];
  const weights = all.slice(1).map((_, index) => (index >= prompt.length - 1 ? 1 : 0));
  return datum({ modelInput: ModelInput.fromInts(all.slice(0, -1)), lossFnInputs: { targetTokens: all.slice(1), weights } });
}

/** One step of cross-entropy; the mean loss of a trained token before it. */
export async function trainStep(model: EngineModel, data: readonly Datum[], learningRate: number): Promise<number> {
  const { metrics } = await model.forward({ data, lossFn: 'cross_entropy' }, { backward: true });
  await model.optimStep({ learningRate });
  return metrics['loss:sum']! / metrics['weights:sum']!;
}

/** The mean loss of a trained token. */
export async function meanLoss(model: EngineModel, data: readonly Datum[]): Promise<number> {
  const { metrics } = await model.forward({ data, lossFn: 'cross_entropy' }, { backward: false });
  return metrics['loss:sum']! / metrics['weights:sum']!;
}

/** The log-probability of each target of each datum. */
export async function scoreAll(model: EngineModel, data: readonly Datum[]): Promise<number[][]> {
  const { lossFnOutputs } = await model.forward({ data, lossFn: 'cross_entropy' }, { backward: false });
  return lossFnOutputs.map((output) => [...(output['logprobs']!.data as Float32Array)]);
}

/** The log-probability of each target of a datum. */
export async function logprobsOf(model: EngineModel, item: Datum): Promise<number[]> {
  const [logprobs] = await scoreAll(model, [item]);
  return logprobs as number[];
}
