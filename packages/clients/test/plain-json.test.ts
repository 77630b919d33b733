import { startServer } from '@tinkex/testkit';
import { expect, it } from 'vitest';
import { ServiceClient } from '../src/index.js';

it.each(['json', 'protobuf'] as const)('a sample is written as plain lists by JSON.stringify: %s', async (wireFormat) => {
  await using server = await startServer({ engine: 'canned' });
  await using service = new ServiceClient({ ...server.clientOptions, wireFormat });
  const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
  const response = await sampling.sample({ prompt: [1], numSamples: 2, samplingParams: { maxTokens: 2 } });
  const sequences = [0, 1].map((index) => ({
    stopReason: 'length',
    tokens: Array.from(response.sequences[index]?.tokens ?? []),
    logprobs: [-0.5, -0.5],
    sequenceId: expect.any(String),
  }));
  expect(JSON.parse(JSON.stringify(response))).toEqual({ sequences, promptCacheHitTokens: 0 });
});
