import { rateLimiterFor } from '@tinkex/clients';
import { subscribe } from '@tinkex/http';
import { ApiStatusError, RateLimitError, type SamplingCallEvent, TopkLogprobs } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { cannedRig } from '../support/canned-rig.js';
import { drive, turns } from '../support/drive.js';

const prompt = [5, 6, 7];
const samplingParams = { maxTokens: 4 };

const rig = cannedRig();

const limiter = () => rateLimiterFor(rig.server.url, rig.server.apiKey, rig.clock);
const seqIds = () => rig.server.callsTo('asample').map(({ request }) => Number(request.seqId));
const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('B. sampling and concurrency', () => {
  it('B.1 one call: what is sent and what comes back', async () => {
    const topkPromptLogprobs = TopkLogprobs.fromList([
      null,
      [
        [6, -0.25],
        [9, -2],
      ],
      [
        [7, -0.5],
        [1, -3],
      ],
    ]);
    rig.server.on('asample').result({
      sequences: [
        { tokens: Int32Array.of(8, 9), logprobs: Float32Array.of(-0.5, -0.75), stopReason: 'stop' },
        { tokens: Int32Array.of(8, 9, 10, 11), stopReason: 'length' },
      ],
      promptLogprobs: Float32Array.of(Number.NaN, -1, -2),
      topkPromptLogprobs,
      promptCacheHitTokens: 2,
    });
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const future = sampling.sample({ prompt, numSamples: 2, samplingParams, includePromptLogprobs: true, topkPromptLogprobs: 2 });
    const response = await future;

    const [call] = rig.server.callsTo('asample');
    expect(call?.request).toMatchObject({
      samplingSessionId: sampling.samplingSessionId,
      seqId: 0,
      numSamples: 2,
      samplingParams: { maxTokens: 4 },
      promptLogprobs: true,
      topkPromptLogprobs: 2,
    });
    expect([...(call?.request.prompt.toInts() ?? [])]).toEqual(prompt);
    expect(future.requestId).toBe(call?.requestId);
    expect(response.sequences.map(({ tokens }) => [...tokens])).toEqual([
      [8, 9],
      [8, 9, 10, 11],
    ]);
    expect(response.sequences.map(({ stopReason }) => stopReason)).toEqual(['stop', 'length']);
    expect(response.sequences[0]?.logprobs).toEqual(Float32Array.of(-0.5, -0.75));
    expect(response.sequences[1]?.logprobs).toBeUndefined();
    expect(response.promptLogprobs).toEqual(Float32Array.of(Number.NaN, -1, -2));
    expect(response.topkPromptLogprobs?.toList()).toEqual(topkPromptLogprobs.toList());
    expect(response.promptCacheHitTokens).toBe(2);
    rig.server.verify();
  });

  it('B.2 a 429 rejects its call and holds back 50 others until the backoff ends', async () => {
    rig.server.on('asample').reply(429, { retryAfterMs: 200 }).once();
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const refused = await sampling.sample({ prompt, samplingParams }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RateLimitError);
    expect((refused as RateLimitError).retryAfterMs).toBe(200);

    const calls = range(50).map(() => sampling.sample({ prompt, samplingParams }).result());
    await rig.clock.advance(199);
    await turns(50);
    expect(rig.server.count('asample')).toBe(1);
    expect(limiter().inspect()).toMatchObject({ isBlocked: true, isThrottled: true });
    await rig.clock.advance(1);
    const responses = await Promise.all(calls);
    expect(responses).toHaveLength(50);
    expect(rig.server.count('asample')).toBe(51);
    expect(sorted(seqIds())).toEqual(range(51));
    expect(limiter().inspect()).toMatchObject({ blockedForMs: 0, isBlocked: false, waiting: 0 });
    expect(rig.server.maxConcurrency('asample')).toBeLessThanOrEqual(10);
    rig.server.verify();
  });

  it('B.3 without a 429 nothing is held back: 50 calls are in flight together', async () => {
    const gate = rig.server.gate('asample');
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const calls = range(50).map(() => sampling.sample({ prompt, samplingParams }).result());
    await gate.waitFor(50);
    expect(rig.server.maxConcurrency('asample')).toBe(50);
    gate.open();
    await Promise.all(calls);
    expect(sorted(seqIds())).toEqual(range(50));
    rig.server.verify();
  });

  it.each([500, 503, 400, 403, 409, 422])(
    'B.4 status %i surfaces once, after exactly one request, and leaves the limiter alone',
    async (status) => {
      rig.server.on('asample').reply(status, { detail: 'no' });
      const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
      const failure = await sampling.sample({ prompt, samplingParams }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApiStatusError);
      expect(failure).toMatchObject({ status, attempts: 1 });
      expect(rig.server.count('asample')).toBe(1);
      expect(limiter().inspect().blockedForMs).toBe(0);
    },
  );

  it('B.5 with retry on: 500, 429, a reset, an expired future, then the result, always with one seq id', async () => {
    rig.server.on('asample').reply(500).once();
    rig.server.on('asample').reply(429, { retryAfterMs: 200 }).once();
    rig.server.on('asample').fault('reset').once();
    rig.server.on('retrieveFuture').reply(410).once();
    const events: SamplingCallEvent[] = [];
    const unsubscribe = subscribe('tinkex:sampling:call', (event) => events.push(event));
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny', retry: true });
    const response = await drive(rig.clock, sampling.sample({ prompt, samplingParams }));
    unsubscribe();
    expect(response.sequences).toHaveLength(1);
    expect(seqIds()).toEqual([0, 0, 0, 0, 0]);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ attempt: 4, samples: 1, promptTokens: 3 });
    rig.server.verify();
  });

  it.each([
    ['whole seconds', { 'retry-after': '2' }, 2_000],
    ['a fraction of a second', { 'retry-after': '0.25' }, 250],
    ['milliseconds, which win', { 'retry-after-ms': '40', 'retry-after': '9' }, 40],
    ['a day, cut to a minute', { 'retry-after': '86400' }, 60_000],
    ['a negative time: the default', { 'retry-after': '-5' }, 1_000],
    ['zero: the default', { 'retry-after-ms': '0' }, 1_000],
    ['garbage: the default', { 'retry-after': 'soon' }, 1_000],
    ['nothing: the default', {}, 1_000],
  ] as const)('B.6 Retry-After as %s', async (_, headers, expectedMs) => {
    rig.server
      .on('asample')
      .reply(429, { detail: 'slow down' }, headers as Record<string, string>)
      .once();
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    await expect(sampling.sample({ prompt, samplingParams })).rejects.toBeInstanceOf(RateLimitError);
    expect(limiter().inspect().blockedForMs).toBe(expectedMs);
  });

  it('B.6 Retry-After as an HTTP date, by the injected clock', async () => {
    const date = new Date(Math.ceil(rig.clock.wallMs() / 1000) * 1000 + 7_000).toUTCString();
    rig.server.on('asample').reply(429, { detail: 'slow down' }, { 'retry-after': date }).once();
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    await expect(sampling.sample({ prompt, samplingParams })).rejects.toBeInstanceOf(RateLimitError);
    expect(limiter().inspect().blockedForMs).toBe(Date.parse(date) - rig.clock.wallMs());
  });

  it('B.6 a large prompt without a hint backs off longer', async () => {
    rig.server.on('asample').reply(429, { detail: 'slow down' }).once();
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    const large = new Int32Array(13_200);
    await expect(sampling.sample({ prompt: large, samplingParams })).rejects.toBeInstanceOf(RateLimitError);
    expect(limiter().inspect().blockedForMs).toBe(5_000);
  });

  it('events carry no content, unless the client is configured to publish it', async () => {
    const seen: unknown[] = [];
    const stop = subscribe('tinkex:sampling:call', ({ content }) => seen.push(content));
    for (const publishContent of [false, true]) {
      const sampling = await rig.connect({ publishContent }).createSamplingClient({ baseModel: 'tinkex/tiny' });
      const { sequences } = await drive(rig.clock, sampling.sample({ prompt, samplingParams }));
      expect(seen.at(-1)).toEqual(publishContent ? { prompt, sequences: sequences.map(({ tokens }) => tokens) } : undefined);
    }
    stop();
    expect(seen).toHaveLength(2);
  });

  it('B.7 HTTP events are seen for sampling; queue states come only from polling', async () => {
    const seen: string[] = [];
    const stops = [
      subscribe('tinkex:http:request:start', ({ path }) => seen.push(`start ${path}`)),
      subscribe('tinkex:http:request:stop', ({ path, status }) => seen.push(`stop ${path} ${status}`)),
      subscribe('tinkex:queue:state_change', ({ to, requestType }) => seen.push(`queue ${requestType} ${to}`)),
    ];
    rig.server.on('asample').reply(429, { retryAfterMs: 1, queueState: 'paused_rate_limit' }).once();
    const sampling = await rig.connect().createSamplingClient({ baseModel: 'tinkex/tiny' });
    await expect(sampling.sample({ prompt, samplingParams })).rejects.toBeInstanceOf(RateLimitError);
    expect(seen.filter((entry) => entry.startsWith('queue'))).toEqual([]);
    await rig.clock.advance(1);

    const gate = rig.server.gate('asample', { at: 'execution' });
    const states: string[] = [];
    const future = sampling.sample({ prompt, samplingParams });
    const reported = new Promise<void>((resolve) => {
      future.onQueueState(({ state, reason }) => {
        states.push(`${state}: ${reason}`);
        resolve();
      });
    });
    await rig.server.waitForCalls('retrieveFuture', 1);
    await turns(20);
    rig.server.pauseQueue({ state: 'paused_capacity', reason: 'no GPUs' });
    await drive(rig.clock, reported);
    rig.server.resumeQueue();
    gate.open();
    await drive(rig.clock, future);
    for (const stop of stops) stop();
    expect(states[0]).toBe('paused_capacity: no GPUs');
    expect(seen).toContain('queue Sample paused_capacity');
    expect(seen).toContain('start /api/v1/asample');
    expect(seen).toContain('stop /api/v1/asample 429');
    expect(seen).toContain('stop /api/v1/retrieve_future 200');
  });
});
