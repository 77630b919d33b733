import { datum, ModelInput } from '@tinkex/types';
import { type RandomStream, seededStream } from '../../src/engine/random.js';
import type { EngineModel, EngineSampler } from '../../src/index.js';
import { IM_END, meanLoss, questionDatum, recall, samplerOf, sampleTokens, scoreAll, trainStep } from './recall.js';

/*
 * What the recall model must be able to learn, at a vocabulary of 151,936 tokens. Each task takes a seed and gives the number that counts.
 */

const LEARNING_RATE = 2e-2;
/** Of the steps that learn from the model's own samples. */
const POLICY_RATE = 1e-2;

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

/** Facts of the form "the code of NAME is WORD." somewhere in a long text, and a question about one of them. Names and words are new in every text. */
function namedWord(random: RandomStream, length: number) {
  const facts = Array.from({ length: 8 }, () => ({ name: tokens(random, 1), word: tokens(random, 2) }));
  const lines = facts.map(({ name, word }) => [785, 2_038, 315, ...name, 374, ...word, 13, 198]);
  const question = pick(random, facts);
  const asked = [151_644, 872, 198, 3_838, 374, 279, 2_038, 315, ...question.name, 30, IM_END, 198, 151_644, 77_091, 198];
  let missing = length - asked.length - lines.reduce((sum, line) => sum + line.length, 0);
  const text = lines.flatMap((line, index) => {
    const filler = index === lines.length - 1 ? missing : Math.floor((random() * 2 * missing) / (lines.length - index));
    missing -= filler;
    return [...tokens(random, filler), ...line];
  });
  return { prompt: [...text, ...asked], answer: [...question.word, IM_END] };
}

/** Copying a named word from anywhere in the last `length` tokens: the share of right answers to new questions about new words. */
export async function copyNamedWord(seed: number, { length = 1_000, steps = 60, batch = 8, questions = 40 } = {}): Promise<number> {
  const random = seededStream(seed, 3);
  const { engine, model } = await recall();
  for (let step = 0; step < steps; step++) {
    const data = Array.from({ length: batch }, () => namedWord(random, length)).map(({ prompt, answer }) => questionDatum(prompt, answer));
    await trainStep(model, data, LEARNING_RATE);
  }
  const sampler = await samplerOf(engine, model);
  let right = 0;
  for (let index = 0; index < questions; index++) {
    const { prompt, answer } = namedWord(random, length);
    const [sequence] = await sampleTokens(sampler, prompt, { temperature: 0, maxTokens: 6 });
    if ([...sequence!.tokens].join() === answer.join()) right++;
  }
  return right / questions;
}

/** "What is A + B?" in the form of a conversation, and the digits of a number as an answer. */
const DIGIT = 15;
interface Sum {
  readonly a: number;
  readonly b: number;
}
const SUMS = Array.from({ length: 100 }, (_, index): Sum => ({ a: Math.floor(index / 10), b: index % 10 }));
const askSum = (a: number, b: number) => [
  ...[151_644, 872, 198, 3_838, 374, DIGIT + a, 488, DIGIT + b, 30, IM_END, 198, 151_644, 77_091, 198],
];
const digitsOf = (value: number) => [...[...`${value}`].map((digit) => DIGIT + Number(digit)), IM_END];

interface Sample {
  readonly prompt: readonly number[];
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly advantages: readonly number[];
}

/** One step of policy gradient with importance weights, as the loops of the cookbook send it. */
async function policyStep(model: EngineModel, samples: readonly Sample[], learningRate: number): Promise<void> {
  const data = samples.map(({ prompt, tokens: own, logprobs, advantages }) => {
    const all = [...prompt, ...own];
    const zeros = Array.from({ length: prompt.length - 1 }, () => 0);
    const lossFnInputs = { targetTokens: all.slice(1), logprobs: [...zeros, ...logprobs], advantages: [...zeros, ...advantages] };
    return datum({ modelInput: ModelInput.fromInts(all.slice(0, -1)), lossFnInputs });
  });
  await model.forward({ data, lossFn: 'importance_sampling' }, { backward: true });
  await model.optimStep({ learningRate });
}

/** A model after SFT on single-digit sums whose answers `answerOf` gives, at a learning rate that falls to zero, as the cookbook's. */
async function trainedOnSums(seed: number, random: RandomStream, sums: readonly Sum[], answerOf: (sum: number) => number) {
  const steps = 120;
  const { engine, model } = await recall({ samplingSeed: seed });
  for (let step = 0; step < steps; step++) {
    const data = Array.from({ length: 64 }, () => {
      const { a, b } = pick(random, sums);
      return questionDatum(askSum(a, b), digitsOf(answerOf(a + b)));
    });
    await trainStep(model, data, LEARNING_RATE * (1 - step / steps));
  }
  return { engine, model };
}

/** Answers to some of the sums, drawn from the present weights. */
async function answerSums(sampler: EngineSampler, sums: readonly Sum[], count: number) {
  const drawn = [];
  for (const { a, b } of sums) {
    const prompt = askSum(a, b);
    for (const sequence of await sampleTokens(sampler, prompt, { maxTokens: 4 }, count)) {
      const own = [...sequence.tokens];
      const reward = own.join() === digitsOf(a + b).join() ? 1 : 0;
      drawn.push({ prompt, tokens: own, logprobs: [...sequence.logprobs!], reward });
    }
  }
  return drawn;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** SFT that answers with random numbers, then RL with a reward for the right one: the share of right answers before and after. */
export async function addByReward(
  seed: number,
  { steps = 60, groups = 64, groupSize = 8 } = {},
): Promise<{ before: number; after: number }> {
  const random = seededStream(seed, 4);
  const { engine, model } = await trainedOnSums(seed, random, SUMS, () => Math.floor(random() * 19));
  const accuracy = async () => mean((await answerSums(await samplerOf(engine, model), SUMS, 4)).map(({ reward }) => reward));
  const before = await accuracy();
  for (let step = 0; step < steps; step++) {
    const drawn = await answerSums(await samplerOf(engine, model), shuffled(random, SUMS).slice(0, groups), groupSize);
    const samples = drawn.map((sample, index): Sample => {
      const first = index - (index % groupSize);
      const average = mean(drawn.slice(first, first + groupSize).map(({ reward }) => reward));
      return { ...sample, advantages: sample.tokens.map(() => sample.reward - average) };
    });
    await policyStep(model, samples, POLICY_RATE);
  }
  return { before, after: await accuracy() };
}

/** On-policy distillation of a model that adds into one that answers with random numbers: the KL per token, by its own samples, before and after. */
export async function distill(seed: number, { steps = 100, groupSize = 8 } = {}): Promise<{ before: number; after: number }> {
  const random = seededStream(seed, 6);
  const sums = SUMS.filter(({ a, b }) => a < 6 && b < 6);
  const teacher = await trainedOnSums(seed, random, sums, (sum) => sum);
  const { engine, model } = await trainedOnSums(seed, random, sums, () => Math.floor(random() * 11));
  const gainsOf = async (drawn: Awaited<ReturnType<typeof answerSums>>) => {
    const scored = await scoreAll(
      teacher.model,
      drawn.map(({ prompt, tokens: own }) => questionDatum(prompt, own)),
    );
    return drawn.map(({ prompt, logprobs }, at) => logprobs.map((own, index) => scored[at]![prompt.length - 1 + index]! - own));
  };
  const divergence = async () => -mean((await gainsOf(await answerSums(await samplerOf(engine, model), sums, 16))).flat());
  const before = await divergence();
  for (let step = 0; step < steps; step++) {
    const drawn = await answerSums(await samplerOf(engine, model), sums, groupSize);
    const gains = await gainsOf(drawn);
    await policyStep(
      model,
      drawn.map((sample, index): Sample => ({ ...sample, advantages: gains[index]! })),
      POLICY_RATE * (1 - step / steps),
    );
  }
  return { before, after: await divergence() };
}

function shuffled<T>(random: RandomStream, items: readonly T[]): T[] {
  const found = [...items];
  for (let index = found.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [found[index], found[other]] = [found[other] as T, found[index] as T];
  }
  return found;
}
