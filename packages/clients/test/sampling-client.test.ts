import { SamplingClient, ServiceClient, type ServiceClientOptions } from '@tinkex/clients';
import { startServer, type TestServer, VirtualClock } from '@tinkex/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drive, turns } from './support/drive.js';

const prompt = [5, 6, 7];
const samplingParams = { maxTokens: 4 };

let server: TestServer;
let clock: VirtualClock;
const services: ServiceClient[] = [];

beforeEach(async () => {
  server = await startServer({ engine: 'canned' });
  clock = new VirtualClock();
});

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()));
  await server.close();
});

function connect(options: ServiceClientOptions = {}): ServiceClient {
  const service = new ServiceClient({
    ...server.clientOptions,
    clock,
    random: () => 0.5,
    heartbeatIntervalMs: 3_600_000,
    telemetry: false,
    ...options,
  });
  services.push(service);
  return service;
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('SamplingClient', () => {
  it('computes log-probabilities, one per prompt token', async () => {
    const sampling = await connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const logprobs = await sampling.computeLogprobs(prompt);
    expect(logprobs).toHaveLength(3);
    expect(logprobs[0]).toBeNaN();
    expect(server.callsTo('asample')[0]?.request).toMatchObject({ numSamples: 1, promptLogprobs: true, samplingParams: { maxTokens: 1 } });
    server.verify();
  });

  it('knows its base model and tokenizer, asking once', async () => {
    const sampling = await connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    expect(await sampling.getBaseModel()).toBe('tinkex/tiny');
    const tokenizer = await sampling.getTokenizer();
    expect(tokenizer.decode([104, 105])).toBe('hi');
    expect(server.count('getSampler')).toBe(1);
  });

  it('gives another process a handle without a secret and with numbers of its own', async () => {
    const service = connect();
    const original = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    await original.sample({ prompt, samplingParams });
    const text = JSON.stringify(original);
    expect(text).not.toContain(server.apiKey);
    const copy = await SamplingClient.fromJSON(text, connect());
    await Promise.all(range(3).map(() => copy.sample({ prompt, samplingParams })));
    await original.sample({ prompt, samplingParams });
    const ids = server.callsTo('asample').map(({ request }) => BigInt(request.seqId ?? -1));
    expect(ids.filter((id) => id < 1_000_000_000n)).toEqual([0n, 1n]);
    const copied = ids.filter((id) => id >= 1_000_000_000n);
    expect(copied).toHaveLength(3);
    expect(new Set(copied).size).toBe(3);
    expect((copied[0] ?? 1n) % 1_000_000_000n).toBe(0n);
    await expect(SamplingClient.fromJSON('{"kind":"else"}', service)).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
    server.verify();
  });

  it('samples many prompts, bounded, in input order', async () => {
    const sampling = await connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const inputs = range(40).map((token) => ({ prompt: [token], samplingParams }));
    const indexes: number[] = [];
    for await (const { index, response } of sampling.sampleMany(inputs, { concurrency: 8, order: 'input' })) {
      expect(response.sequences).toHaveLength(1);
      indexes.push(index);
    }
    expect(indexes).toEqual(range(40));
    expect(server.maxConcurrency('asample')).toBeLessThanOrEqual(8);
  });

  it('refuses to be made of nothing, or of something that is no path', async () => {
    const service = connect();
    await expect(service.createSamplingClient({})).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
    await expect(service.createSamplingClient({ modelPath: 'weights/step-1' })).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
    expect(server.count('createSamplingSession')).toBe(0);
  });

  it('an aborted call leaves the limits as it found them', async () => {
    const gate = server.gate('asample');
    const sampling = await connect({ limits: { maxConcurrentSampleSubmissions: 1 } }).createSamplingClient({ baseModel: 'tinkex/tiny' });
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
      const sampling = await connect(strict.clientOptions).createSamplingClient({ baseModel: 'tinkex/tiny', retry: true });
      const calls = range(9).map(() => sampling.sample({ prompt, samplingParams }).result());
      await gate.waitFor(3);
      await turns(30);
      expect(strict.inFlight('asample')).toBe(3);
      gate.open();
      await Promise.all(calls);

      strict.on('retrieveFuture').reply(410).times(2);
      await expect(sampling.sample({ prompt, samplingParams })).rejects.toMatchObject({ code: 'TINKEX_FUTURE_EXPIRED' });
      expect(await drive(clock, sampling.computeLogprobs(prompt))).toHaveLength(3);
    } finally {
      await strict.close();
    }
  });
});
