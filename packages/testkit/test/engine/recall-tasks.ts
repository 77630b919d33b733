import { datum } from '@tinkex/types';
import { type RandomStream, seededStream } from '../../src/engine/random.js';
import { IM_END, meanLoss, questionDatum, recall, samplerOf, sampleTokens, trainStep } from './recall.js';

/*
 * What the recall model must be able to learn, at a vocabulary of 151,936 tokens. Each task takes a seed and gives the number that counts.
 */

const LEARNING_RATE = 2e-2;

function tokens(random: RandomStream, count: number, from = 0, to = 150_000): number[] {
  return Array.from({ length: count }, () => from + Math.floor(random() * (to - from)));
}

function pick<T>(random: RandomStream, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

/** Ten sentences in thirty steps of all of them: the share that greedy sampling repeats from the first three tokens. */
export async function recite(seed: number): Promise<number> {
  const random = seededStream(seed, 1);
  const words = tokens(random, 60);
  const sentences = Array.from({ length: 10 }, () => [...Array.from({ length: 12 }, () => pick(random, words)), IM_END]);
  const { engine, model } = await recall();
  const data = sentences.map((sentence) => questionDatum(sentence.slice(0, 1), sentence.slice(1)));
  for (let step = 0; step < 30; step++) await trainStep(model, data, LEARNING_RATE);
  const sampler = await samplerOf(engine, model);
  let repeated = 0;
  for (const sentence of sentences) {
    const [sequence] = await sampleTokens(sampler, sentence.slice(0, 3), { temperature: 0, maxTokens: 20 });
    if ([...sequence!.tokens].join() === sentence.slice(3).join()) repeated++;
  }
  return repeated / sentences.length;
}

/** 64 questions that differ only in their first tokens, with different answers, in steps of 16: the mean loss of the answers. */
export async function answerLongQuestions(seed: number, { length = 200, steps = 100 } = {}): Promise<number> {
  const random = seededStream(seed, 2);
  const shared = tokens(random, length - 20);
  const questions = Array.from({ length: 64 }, () => questionDatum([...tokens(random, 20), ...shared], [...tokens(random, 4), IM_END]));
  const { model } = await recall();
  for (let step = 0; step < steps; step++) {
    const batch = Array.from({ length: 16 }, (_, index) => questions[(16 * step + index) % 64]!);
    await trainStep(model, batch, LEARNING_RATE);
  }
  return meanLoss(model, questions);
}

function sumOfLogprobs(values: Float32Array, answerLength: number): number {
  return values.subarray(values.length - answerLength).reduce((sum, value) => sum + value, 0);
}

/** DPO on 32 pairs of answers: the share of pairs whose preferred answer gained more on the reference than the other. */
export async function prefer(seed: number, steps = 30): Promise<number> {
  const random = seededStream(seed, 5);
  const beta = 0.1;
  const { model } = await recall();
  const pairs = Array.from({ length: 32 }, () => {
    const prompt = tokens(random, 40);
    return [questionDatum(prompt, [...tokens(random, 6), IM_END]), questionDatum(prompt, [...tokens(random, 6), IM_END])] as const;
  });
  const data = pairs.flat();
  const scores = async (backward: boolean, weights?: readonly Float32Array[]): Promise<number[]> => {
    const weighted = data.map(({ modelInput, lossFnInputs }, index) =>
      datum({
        modelInput,
        lossFnInputs: { targetTokens: lossFnInputs.targetTokens!, weights: weights?.[index] ?? lossFnInputs['weights']! },
      }),
    );
    const { lossFnOutputs } = await model.forward({ data: weighted, lossFn: 'cross_entropy' }, { backward });
    return lossFnOutputs.map((output) => sumOfLogprobs(output['logprobs']!.data as Float32Array, 7));
  };
  const reference = await scores(false);
  const gains = (now: readonly number[]) =>
    pairs.map((_, pair) => now[2 * pair]! - reference[2 * pair]! - (now[2 * pair + 1]! - reference[2 * pair + 1]!));
  for (let step = 0; step < steps; step++) {
    const slopes = gains(await scores(false)).map((gain) => beta / (1 + Math.exp(beta * gain)));
    const weights = data.map(({ lossFnInputs }, index) => {
      const sign = index % 2 === 0 ? 1 : -1;
      return (lossFnInputs['weights']!.data as Float32Array).map((weight) => sign * weight * slopes[Math.floor(index / 2)]!);
    });
    await scores(true, weights);
    await model.optimStep({ learningRate: LEARNING_RATE });
  }
  return gains(await scores(false)).filter((gain) => gain > 0).length / pairs.length;
}
