import { type ClientLimits, SamplingClient } from '@tinkex/clients';
import { subscribe } from '@tinkex/http';
import { startServer } from '@tinkex/testkit';
import type { SamplingParams } from '@tinkex/types';
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

  it('one caller who gives up asking for the base model does not take the answer from the others', async () => {
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const controller = new AbortController();
    const first = sampling.getBaseModel({ signal: controller.signal });
    const second = sampling.getBaseModel();
    controller.abort();
    await expect(first).rejects.toMatchObject({ name: 'AbortError' });
    expect(await second).toBe('tinkex/tiny');
    expect(rig.server.count('getSampler')).toBe(1);
  });

  it('need not wait for a tokenizer that does not come', async () => {
    let onLoad = (): void => undefined;
    const load = () => {
      onLoad();
      return new Promise<never>(() => undefined);
    };
    const clients = [
      await rig.connect({ tokenizer: { load } }).createSamplingClient({ baseModel: 'tinkex/tiny' }),
      await rig.connect({ tokenizer: { load } }).createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 1 }),
    ];
    for (const client of clients) {
      const controller = new AbortController();
      onLoad = () => setImmediate(() => controller.abort());
      await expect(client.getTokenizer({ signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    }
  });

  it('reports a call once, also when its answer lacks what was requested', async () => {
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    rig.server.on('retrieveFuture').reply(200, { sequences: [] });
    const events: unknown[] = [];
    const stop = subscribe('tinkex:sampling:call', (event) => events.push(event));
    await expect(sampling.computeLogprobs(prompt)).rejects.toThrow('promptLogprobs');
    stop();
    expect(events).toEqual([expect.objectContaining({ errorCode: 'TINKEX_VALIDATION' })]);
  });

  it.each([false, true])('reports that a call ran out of time as its future does, with retry %s', async (retry) => {
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny', retry });
    const gate = rig.server.gate('asample', { at: 'execution' });
    const codes: unknown[] = [];
    const stops = (['tinkex:sampling:call', 'tinkex:future:settled'] as const).map((name) =>
      subscribe(name, ({ errorCode }) => codes.push(errorCode)),
    );
    const failure = sampling.sample({ prompt, samplingParams }, { timeoutMs: 50 }).catch((error: unknown) => error);
    await rig.server.waitForCalls('retrieveFuture', 1);
    await rig.clock.advance(50);
    expect(await failure).toMatchObject({ code: 'TINKEX_TIMEOUT', phase: 'total' });
    for (const stop of stops) stop();
    expect(codes).toEqual(['TINKEX_TIMEOUT', 'TINKEX_TIMEOUT']);
    gate.open();
  });

  it('gives another process a handle without a secret and with its own sequence IDs', async () => {
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

  it('a copy need not wait for a server that does not start, nor take a handle that is none', async () => {
    const handle = (await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' })).toJSON();
    const gate = rig.server.gate('clientConfig');
    const service = rig.connect();
    const controller = new AbortController();
    const copying = SamplingClient.fromJSON(handle, service, { signal: controller.signal });
    await gate.waitFor(1);
    controller.abort();
    await expect(copying).rejects.toMatchObject({ name: 'AbortError' });
    gate.open();
    const broken = { ...handle, sessionId: 5 } as unknown as typeof handle;
    await expect(SamplingClient.fromJSON(broken, service)).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
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

  it('samples many prompts with the headers and the time limit of each sample', async () => {
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const gate = rig.server.gate('asample', { at: 'execution' });
    const options = { headers: { 'user-agent': 'mine' }, sampleTimeoutMs: 50, errors: 'yield' } as const;
    const items = sampling.sampleMany([{ prompt, samplingParams }], options);
    const first = items.next();
    await rig.server.waitForCalls('retrieveFuture', 1);
    await rig.clock.advance(50);
    expect((await first).value).toMatchObject({ error: { code: 'TINKEX_TIMEOUT', phase: 'total' } });
    expect(rig.server.callsTo('asample')[0]?.headers['user-agent']).toBe('mine');
    gate.open();
  });

  it('ends a loop over many prompts at its time limit, with the samples in progress', async () => {
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const gate = rig.server.gate('asample', { at: 'execution' });
    const first = sampling
      .sampleMany([{ prompt, samplingParams }], { timeoutMs: 50, errors: 'yield' })
      .next()
      .catch((error: unknown) => error);
    await rig.server.waitForCalls('retrieveFuture', 1);
    await rig.clock.advance(50);
    expect(await first).toMatchObject({ code: 'TINKEX_TIMEOUT', phase: 'total', timeoutMs: 50 });
    gate.open();
  });

  it.each([500, 429, 402])('with retry, sends no more than maxAttempts submissions when all are answered with %i', async (status) => {
    const retry = { maxAttempts: 3 };
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny', retry });
    rig.server.on('asample').reply(status);
    const failure = await drive(
      rig.clock,
      sampling.sample({ prompt, samplingParams }).catch((error: unknown) => error),
    );
    expect(failure).toMatchObject({ status, attempts: 3 });
    expect(rig.server.callsTo('asample').map(({ request }) => request.seqId)).toEqual([0, 0, 0]);
  });

  it('with retry, counts the attempts of a call that fails for good', async () => {
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny', retry: true });
    rig.server.on('asample').reply(500).times(2);
    rig.server.on('asample').reply(422).once();
    const failure = await drive(
      rig.clock,
      sampling.sample({ prompt, samplingParams }).catch((error: unknown) => error),
    );
    expect(failure).toMatchObject({ status: 422, attempts: 3 });
  });

  it('refuses to start from nothing, or from something that is not a path', async () => {
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

  describe('calls that wait in the queue', () => {
    async function withCallsInLine(limits: ClientLimits) {
      const gate = rig.server.gate('asample');
      const sampling = await rig.connect({ limits }).createSamplingClient({ baseModel: 'tinkex/tiny' });
      const first = sampling.sample({ prompt, samplingParams }).result();
      await gate.waitFor(1);
      return { gate, sampling, first };
    }

    it('send what was requested, whatever happened to the objects since', async () => {
      const { gate, sampling, first } = await withCallsInLine({ maxConcurrentSamples: 1 });
      const seeded = { maxTokens: 1, seed: 0 };
      const stopping = { maxTokens: 1, stop: [0] };
      const headers = { 'user-agent': '' };
      const input: { prompt: number[]; numSamples: number; samplingParams: SamplingParams } = {
        prompt: [0, 6],
        numSamples: 1,
        samplingParams: seeded,
      };
      const calls = range(40).map((index) => {
        seeded.seed = index;
        stopping.stop[0] = index;
        headers['user-agent'] = String(index);
        input.prompt[0] = index;
        input.numSamples = 1 + (index % 3);
        input.samplingParams = index % 2 === 0 ? seeded : stopping;
        return sampling.sample(input, { headers }).result();
      });
      gate.open();
      await Promise.all([first, ...calls]);
      const sent = rig.server.callsTo('asample').slice(1);
      expect(sent.map(({ request }) => [request.seqId, request.numSamples, request.prompt.toInts()[0], request.samplingParams])).toEqual(
        range(40).map((index) => [
          index + 1,
          1 + (index % 3),
          index,
          expect.objectContaining(index % 2 === 0 ? { seed: index } : { stop: [index] }),
        ]),
      );
      expect(sent.map((call) => call.headers['user-agent'])).toEqual(range(40).map(String));
    });

    it('leave it the moment their signal or their time limit says so, and send nothing', async () => {
      const { gate, sampling, first } = await withCallsInLine({ maxConcurrentSamples: 1 });
      const controller = new AbortController();
      const aborted = sampling.sample({ prompt, samplingParams }, { signal: controller.signal }).result();
      const late = sampling.sample({ prompt, samplingParams }, { timeoutMs: 50 }).result();
      const last = sampling.sample({ prompt, samplingParams });
      controller.abort(new Error('enough'));
      await expect(aborted).rejects.toMatchObject({ name: 'AbortError', cause: { message: 'enough' } });
      const timedOut = expect(late).rejects.toMatchObject({ code: 'TINKEX_TIMEOUT', phase: 'total' });
      await rig.clock.advance(50);
      await timedOut;
      expect(last.status).toBe('submitting');
      gate.open();
      await Promise.all([first, last]);
      expect(rig.server.count('asample')).toBe(2);
      rig.server.verify();
    });

    it('are refused immediately if their prompt is invalid', async () => {
      const { gate, sampling, first } = await withCallsInLine({ maxConcurrentSamples: 1 });
      await expect(sampling.sample({ prompt: [1.5], samplingParams })).rejects.toMatchObject({ code: 'TINKEX_VALIDATION' });
      gate.open();
      await first;
    });

    it('are rejected when the client closes, with the reason', async () => {
      const gate = rig.server.gate('asample');
      const service = rig.connect({ limits: { maxConcurrentSamples: 1 } });
      const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
      const calls = range(100).map(() => sampling.sample({ prompt, samplingParams }).result());
      const outcomes = Promise.allSettled(calls);
      await gate.waitFor(1);
      await service.close();
      const reasons = (await outcomes).map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : outcome.status));
      expect(new Set(reasons)).toEqual(new Set(['AbortError: The client was closed.']));
      expect(rig.server.count('asample')).toBe(1);
    });
  });

  it('is not made when the server allows no call at all, unless the user does', async () => {
    const closed = await startServer({ engine: 'canned', config: { sampleMaxConcurrentRequests: 0 } });
    try {
      await expect(rig.connect(closed.clientOptions).createSamplingClient({ baseModel: 'tinkex/tiny' })).rejects.toMatchObject({
        code: 'TINKEX_CONFIGURATION',
        option: 'limits.maxConcurrentSamples',
      });
      const limits = { maxConcurrentSamples: 1 };
      const sampling = await rig.connect({ ...closed.clientOptions, limits }).createSamplingClient({ baseModel: 'tinkex/tiny' });
      expect((await sampling.sample({ prompt, samplingParams })).sequences).toHaveLength(1);
    } finally {
      await closed.close();
    }
  });

  it('honors the server: a limit on concurrent calls, and retries turned off for sample but not for computeLogprobs', async () => {
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

  it('keeps to maxAttempts also where the server turns retries off', async () => {
    const strict = await startServer({ engine: 'canned', config: { sampleNoRetries: true } });
    try {
      const retry = { maxAttempts: 3 };
      const sampling = await rig.connect(strict.clientOptions).createSamplingClient({ baseModel: 'tinkex/tiny', retry });
      strict.on('asample').reply(429).times(3);
      const failure = await drive(
        rig.clock,
        sampling.sample({ prompt, samplingParams }).catch((error: unknown) => error),
      );
      expect(failure).toMatchObject({ status: 429, attempts: 3 });
      strict.verify();
    } finally {
      await strict.close();
    }
  });
});
