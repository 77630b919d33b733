import { expect, it } from 'vitest';
import { DEFAULT_ADAM_PARAMS, resolveAdamParams, resolveLoraConfig, resolveSamplingParams } from '../src/wire.js';

it.each([
  ['resolveAdamParams', resolveAdamParams, { learningRate: undefined, beta1: 0.8 }, { ...DEFAULT_ADAM_PARAMS, beta1: 0.8 }],
  [
    'resolveSamplingParams',
    resolveSamplingParams,
    { topK: undefined, seed: undefined, maxTokens: 3 },
    { temperature: 1, topK: -1, topP: 1, maxTokens: 3 },
  ],
  [
    'resolveLoraConfig',
    resolveLoraConfig,
    { rank: undefined, trainMlp: false },
    { rank: 32, trainUnembed: true, trainMlp: false, trainAttn: true },
  ],
] as const)('%s fills in what is undefined', (_name, resolve, given, expected) => {
  // Without exactOptionalPropertyTypes the compiler lets undefined through.
  expect(resolve(given as never)).toStrictEqual(expected);
});
