import { ByteTokenizer, type Datum, ModelInput, nextTokenDatum } from '@tinkex/types';
import { type Engine, type EngineModel, learnEngine } from '../../src/index.js';

export const tokenizer = new ByteTokenizer();

export const sentences = [
  'The quick brown fox jumps over the lazy dog.',
  'A stitch in time saves nine, they always say.',
  'All that glitters is not gold, my friend.',
  'The early bird catches the worm at dawn.',
  'Actions speak louder than words ever could.',
  'Better late than never, but never late is better.',
  'The pen is mightier than the sword in peace.',
  'When in Rome, do as the Romans do there.',
  'Practice makes perfect if you practice well.',
  'The cat sat on the mat and looked at the dog.',
];

/** A sentence to learn by heart, with its end. */
export function sentenceDatum(sentence: string): Datum {
  return nextTokenDatum([...tokenizer.encode(sentence), tokenizer.eosTokenId]);
}

export function prompt(text: string): ModelInput {
  return ModelInput.fromText(text, tokenizer);
}

export interface Setup {
  readonly rank?: number;
  readonly seed?: number;
  readonly trainAttn?: boolean;
  readonly trainMlp?: boolean;
  readonly trainUnembed?: boolean;
}

/** A new engine with one model. */
export async function setUp({ rank = 8, seed, ...flags }: Setup = {}): Promise<{ engine: Engine; model: EngineModel }> {
  const engine = learnEngine();
  const lora = { rank, trainAttn: true, trainMlp: true, trainUnembed: true, ...(seed === undefined ? {} : { seed }), ...flags };
  return { engine, model: await engine.createModel({ baseModel: 'tinkex/tiny', lora }) };
}

/** Full-batch training with cross-entropy; the mean loss per token before each step, and after the last. */
export async function train(model: EngineModel, steps: number, learningRate: number, texts = sentences): Promise<number[]> {
  const input = { data: texts.map(sentenceDatum), lossFn: 'cross_entropy' };
  const losses: number[] = [];
  for (let step = 0; step <= steps; step++) {
    const { metrics } = await model.forward(input, { backward: step < steps });
    losses.push(metrics['loss:sum']! / metrics['weights:sum']!);
    if (step < steps) await model.optimStep({ learningRate });
  }
  return losses;
}

/** What the present weights say greedily after `start`. */
export async function complete(engine: Engine, model: EngineModel, start: string): Promise<string> {
  const sampler = await engine.createSampler({ baseModel: 'tinkex/tiny', checkpoint: await model.save('sampler') });
  const { sequences } = await sampler.sample({
    prompt: prompt(start),
    numSamples: 1,
    samplingParams: { temperature: 0, maxTokens: 80 },
    promptLogprobs: false,
    topkPromptLogprobs: 0,
  });
  return start + tokenizer.decode(sequences[0]!.tokens);
}
