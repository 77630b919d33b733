import { SamplingClient } from '@tinkex/clients';
import { startServer } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { cannedRig } from './support/canned-rig.js';
import { drive, turns } from './support/drive.js';

const prompt = [5, 6, 7];
const samplingParams = { maxTokens: 4 };

const rig = cannedRig();

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('SamplingClient', () => {
  it('computes log-probabilities, one per prompt token', async () => {
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const logprobs = await sampling.computeLogprobs(prompt);
    expect(logprobs).toHaveLength(3);
    expect(logprobs[0]).toBeNaN();
    expect(rig.server.callsTo('asample')[0]?.request).toMatchObject({
      numSamples: 1,
      promptLogprobs: true,
      samplingParams: { maxTokens: 1 },
    });
    rig.server.verify();
  });

  it('knows its base model and tokenizer, asking once', async () => {
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    expect(await sampling.getBaseModel()).toBe('tinkex/tiny');
    const tokenizer = await sampling.getTokenizer();
    expect(tokenizer.decode([104, 105])).toBe('hi');
    expect(rig.server.count('getSampler')).toBe(1);
  });

  it('gives another process a handle without a secret and with numbers of its own', async () => {
    const service = rig.connect();
    const original = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    await original.sample({ prompt, samplingParams });
    const text = JSON.stringify(original);
    expect(text).not.toContain(rig.server.apiKey);
    const copy = await SamplingClient.fromJSON(text, rig.connect());
    await Promise.all(range(3).map(() => copy.sample({ prompt, samplingParams })));
    await original.sample({ prompt, samplingParams });
    const ids = rig.server.callsTo('asample').map(({ request }) => BigInt(request.seqId ?? -1));
    expect(ids.filter((id) => id < 1_000_000_000n)).toEqual([0n, 1n]);
    const copied = ids.filter((id) => id >= 1_000_000_000n);
    expect(copied).toHaveLength(3);
    expect(new Set(copied).size).toBe(3);
    expect((copied[0] ?? 1n) % 1_000_000_000n).toBe(0n);
    await expect(SamplingClient.fromJSON('{"kind":"else"}', service)).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
    rig.server.verify();
  });

  it('samples many prompts, bounded, in input order', async () => {
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const inputs = range(40).map((token) => ({ prompt: [token], samplingParams }));
    const indexes: number[] = [];
    for await (const { index, response } of sampling.sampleMany(inputs, { concurrency: 8, order: 'input' })) {
      expect(response.sequences).toHaveLength(1);
      indexes.push(index);
    }
    expect(indexes).toEqual(range(40));
    expect(rig.server.maxConcurrency('asample')).toBeLessThanOrEqual(8);
  });

  it('refuses to be made of nothing, or of something that is no path', async () => {
    const service = rig.connect();
    await expect(service.createSamplingClient({})).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
    await expect(service.createSamplingClient({ modelPath: 'weights/step-1' })).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
    expect(rig.server.count('createSamplingSession')).toBe(0);
  });

  it('an aborted call leaves the limits as it found them', async () => {
    const gate = rig.server.gate('asample');
    const sampling = await rig
      .connect({ limits: { maxConcurrentSampleSubmissions: 1 } })
      .createSamplingClient({ baseModel: 'tinkex/tiny' });
    const controller = new AbortController();
    const first = sampling.sample({ prompt, samplingParams }, { signal: controller.signal });
    await gate.waitFor(1);
    const second = sampling.sample({ prompt, samplingParams });
    controller.abort();
    await expect(first).rejects.toMatchObject({ name: 'AbortError' });
    gate.open();
    expect((await second).sequences).toHaveLength(1);
  });

  it('honours the server: a limit on calls at once, and retries turned off for sample but not for computeLogprobs', async () => {
    const strict = await startServer({ engine: 'canned', config: { sampleMaxConcurrentRequests: 3, sampleNoRetries: true } });
    try {
      const gate = strict.gate('asample');
      const sampling = await rig.connect(strict.clientOptions).createSamplingClient({ baseModel: 'tinkex/tiny', retry: true });
      const calls = range(9).map(() => sampling.sample({ prompt, samplingParams }).result());
      await gate.waitFor(3);
      await turns(30);
      expect(strict.inFlight('asample')).toBe(3);
      gate.open();
      await Promise.all(calls);

      strict.on('retrieveFuture').reply(410).times(2);
      await expect(sampling.sample({ prompt, samplingParams })).rejects.toMatchObject({ code: 'TINKEX_FUTURE_EXPIRED' });
      expect(await drive(rig.clock, sampling.computeLogprobs(prompt))).toHaveLength(3);
    } finally {
      await strict.close();
    }
  });
});
