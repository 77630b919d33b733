import { ServiceClient } from '@tinkex/clients';
import { startServer, type TestServerOptions } from '@tinkex/testkit';
import { TensorData, ValidationError } from '@tinkex/types';
import { afterEach, describe, expect, it } from 'vitest';

const prompt = [...Buffer.from('one, two')];
const closables: AsyncDisposable[] = [];

afterEach(async () => {
  for (const closable of closables.splice(0).reverse()) await closable[Symbol.asyncDispose]();
});

async function connect(options: TestServerOptions = {}) {
  const server = await startServer(options);
  const service = new ServiceClient({ ...server.clientOptions, telemetry: false, heartbeatIntervalMs: 3_600_000 });
  closables.push(server, service);
  return { server, sampling: await service.createSamplingClient({ baseModel: 'tinkex/tiny' }) };
}

describe.each(['hosted', 'json'] as const)('scores of a sample, by a server of dialect %s', (dialect) => {
  it('come with the sample, and agree with each other', async () => {
    const { server, sampling } = await connect({ dialect });
    const targets = TensorData.fromArray(
      prompt.slice(1).map((token) => [token, -1, -1, -1, -1, -1]),
      'int64',
    ).toSmallest({ padValue: -1 });
    const { sequences, ...scores } = await sampling.sample({
      prompt,
      numSamples: 2,
      samplingParams: { maxTokens: 3, temperature: 0 },
      includePromptLogprobs: true,
      topkPromptLogprobs: 1,
      topkSampleLogprobs: 2,
      targetPromptLogprobs: targets,
      promptAltTokensK: 4,
    });
    const { requestId } = server.callsTo('asample')[0] ?? {};
    expect(sequences.map(({ sequenceId }) => sequenceId)).toEqual([`${requestId}:0`, `${requestId}:1`]);
    for (const { tokens, logprobs, topkLogprobs } of sequences) {
      const best = topkLogprobs?.toList().map((row) => row?.[0]);
      expect(best).toEqual(Array.from(tokens, (token, index) => [token, logprobs?.[index]]));
    }
    expect(scores.targetPromptLogprobs?.isSparse).toBe(true);
    expect(scores.targetPromptLogprobs?.data).toEqual(scores.promptLogprobs?.subarray(1));
    // Greedy alternatives are the most likely tokens.
    const likeliest = scores.topkPromptLogprobs?.toList().slice(1) ?? [];
    expect(scores.promptAltTokens?.tokens.toArray()).toEqual(likeliest.map((row) => Array(4).fill(row?.[0]?.[0])));
    expect(scores.promptAltTokens?.logprobs.toArray()).toEqual(likeliest.map((row) => Array(4).fill(row?.[0]?.[1])));
    server.verify();
  });

  it('of the last n tokens leave out the rest', async () => {
    const { sampling } = await connect({ dialect });
    const [all, last] = await Promise.all([sampling.computeLogprobs(prompt), sampling.computeLogprobs(prompt, { lastN: 2 })]);
    expect(Array.from(last.subarray(0, -2)).every(Number.isNaN)).toBe(true);
    expect(last.subarray(-2)).toEqual(all.subarray(-2));
  });
});

describe('sampling inputs', () => {
  it('that are not set are left out, because older servers refuse them', async () => {
    const { server, sampling } = await connect({ engine: 'canned' });
    await sampling.sample({ prompt, samplingParams: { maxTokens: 1 }, topkSampleLogprobs: 0, promptAltTokensK: 0 });
    const newer = ['topkSampleLogprobs', 'targetPromptLogprobs', 'promptAltTokensK', 'promptLogprobsLastN', 'recordStabilityInfo'];
    expect(Object.keys(server.callsTo('asample')[0]?.request ?? {}).filter((name) => newer.includes(name))).toEqual([]);
    expect(server.callsTo('asample')[0]?.request).toMatchObject({ numSamples: 1, topkPromptLogprobs: 0 });
  });

  it('send stops as a list, an empty one as such', async () => {
    const { server, sampling } = await connect({ engine: 'canned' });
    class Params {
      readonly stop = 'c';
      get maxTokens(): number {
        return 2;
      }
    }
    for (const samplingParams of [{ stop: 'a' }, { stop: ['b'] }, { stop: [] }, {}, new Params()]) {
      await sampling.sample({ prompt, samplingParams });
    }
    expect(server.callsTo('asample').map(({ request }) => request.samplingParams?.stop)).toEqual([['a'], ['b'], [], undefined, ['c']]);
    expect(server.callsTo('asample').at(-1)?.request.samplingParams?.maxTokens).toBe(2);
    server.verify();
  });

  it('with no stop at all run to their limit', async () => {
    const { sampling } = await connect();
    const samplingParams = { maxTokens: 300, seed: 1, temperature: 2 };
    const [usual, endless] = await Promise.all([
      sampling.sample({ prompt, samplingParams }),
      sampling.sample({ prompt, samplingParams: { ...samplingParams, stop: [] } }),
    ]);
    expect(usual.sequences[0]?.stopReason).toBe('stop');
    expect(endless.sequences[0]).toMatchObject({ stopReason: 'length', tokens: { length: 300 } });
  });

  it.each([
    [{ promptAltTokensK: -1 }, /promptAltTokensK must be a whole number/],
    [{ promptLogprobsLastN: 2 }, /set includePromptLogprobs/],
    [{ promptLogprobsLastN: 0, includePromptLogprobs: true }, /promptLogprobsLastN must be/],
    [{ targetPromptLogprobs: TensorData.fromArray([[1]], 'int64') }, /must have 7 rows/],
    [{ topkSampleLogprobs: -1 }, /topkSampleLogprobs/],
  ])('%o fail before anything is sent', async (input, message) => {
    const { server, sampling } = await connect({ engine: 'canned' });
    const sample = sampling.sample({ prompt, ...input });
    await expect(sample).rejects.toBeInstanceOf(ValidationError);
    await expect(sample).rejects.toThrow(message);
    expect(server.count('asample')).toBe(0);
  });

  it('that the server ignores are an error, not a silent gap', async () => {
    const { server, sampling } = await connect({ engine: 'canned' });
    server.on('asample').result({ sequences: [], promptCacheHitTokens: 0, promptLogprobs: Float32Array.of(Number.NaN, -1, -1) });
    await expect(sampling.sample({ prompt, promptAltTokensK: 2 })).rejects.toThrow(/does not know promptAltTokensK/);
    await expect(sampling.computeLogprobs([1, 2, 3], { lastN: 1 })).rejects.toThrow(/does not know promptLogprobsLastN/);
  });

  it('without sequence IDs from the server leave them unset', async () => {
    const { sampling } = await connect({ engine: 'canned', dialect: 'skyrl' });
    const { sequences } = await sampling.sample({ prompt, samplingParams: { maxTokens: 1 } });
    expect(sequences.map(({ sequenceId }) => sequenceId)).toEqual([undefined]);
  });
});
