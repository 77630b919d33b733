import { type RetryOptions, SamplingClient, ServiceClient } from '@tinkex/clients';
import { startServer, type TestServerOptions, VirtualClock } from '@tinkex/testkit';
import { FutureExpiredError, NotFoundError, RequestFailedError } from '@tinkex/types';
import { afterEach, describe, expect, it } from 'vitest';
import { drive } from './support/drive.js';

const SESSION_POLL = { sample_use_retrieve_futures: true };
const CANCEL = { sample_cancel_enabled: true, sample_cancel_max_batch_size: 2 };
const prompt = [5, 6, 7];
const samplingParams = { maxTokens: 4 };

const closables: AsyncDisposable[] = [];

afterEach(async () => {
  for (const closable of closables.splice(0).reverse()) await closable[Symbol.asyncDispose]();
});

async function connect(options: TestServerOptions, retry: boolean | RetryOptions = false, clock?: VirtualClock) {
  const server = await startServer({ engine: 'canned', ...options });
  const service = new ServiceClient({ ...server.clientOptions, clock, telemetry: false, heartbeatIntervalMs: 3_600_000 });
  closables.push(server, service);
  return { server, service, sampling: await service.createSamplingClient({ baseModel: 'tinkex/tiny', retry }) };
}

describe('one poll per sampling session', () => {
  it('holds one request while thousands of samples are pending, beyond the limit of the server, and polls none of them', async () => {
    const { server, sampling } = await connect({ flags: { ...SESSION_POLL, sample_max_concurrent_requests: 10 } });
    const gate = server.gate('asample', { at: 'execution' });
    const samples = Array.from({ length: 3_000 }, () => sampling.sample({ prompt, samplingParams }));
    await gate.waitFor(3_000);
    await server.waitForCalls('retrieveFutures', 1);
    expect(server.inFlight('retrieveFutures')).toBe(1);
    expect(server.count('retrieveFuture')).toBe(0);
    gate.open();
    const responses = await Promise.all(samples);
    expect(responses.every(({ sequences }) => sequences[0]?.tokens.length === 4)).toBe(true);
    expect(server.count('retrieveFuture')).toBe(3_000);
    expect(server.maxConcurrency('retrieveFuture')).toBeLessThanOrEqual(64);
    server.verify();
  });

  it('still obeys a limit of the user', async () => {
    const server = await startServer({ engine: 'canned', flags: SESSION_POLL });
    const service = new ServiceClient({ ...server.clientOptions, telemetry: false, limits: { maxConcurrentSamples: 2 } });
    closables.push(server, service);
    const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    const gate = server.gate('asample', { at: 'execution' });
    const samples = [1, 2, 3].map(() => sampling.sample({ prompt, samplingParams }));
    await gate.waitFor(2);
    expect(server.count('asample')).toBe(2);
    gate.open();
    await Promise.all(samples);
  });

  it('fetches a result of known size directly, and reports it so that the server can delete it', async () => {
    const { server, sampling } = await connect({ flags: SESSION_POLL, metadataOnlyBytes: 1 });
    const future = sampling.sample({ prompt, samplingParams });
    await future;
    expect(server.callsTo('retrieveFuture').map(({ request }) => request.allowMetadataOnly)).toEqual([false]);
    await sampling.sample({ prompt, samplingParams });
    const { requestId } = future;
    const reports = server.callsTo('retrieveFutures').flatMap(({ request }) => request.retrievedRequestIds ?? []);
    expect(reports).toContain(requestId);
  });

  it('gives the error of a sample that failed to that sample alone', async () => {
    const { server, sampling } = await connect({ flags: SESSION_POLL });
    server.on('asample').fail({ error: 'too long', category: 'user' }).once();
    const [failed, good] = [sampling.sample({ prompt, samplingParams }), sampling.sample({ prompt, samplingParams })];
    await expect(failed).rejects.toBeInstanceOf(RequestFailedError);
    expect((await good).sequences).toHaveLength(1);
  });

  it('submits again when a result is lost, and takes the sequence IDs of the submission that gave the result', async () => {
    const { server, sampling } = await connect({ flags: SESSION_POLL }, { seqIdAfterLoss: 'new', baseDelayMs: 1 });
    server.on('retrieveFuture').reply(410, { detail: 'gone' }).once();
    const future = sampling.sample({ prompt, samplingParams, numSamples: 2 });
    const { sequences } = await future;
    const [first, second] = server.callsTo('asample').map(({ requestId }) => requestId);
    expect(second).not.toBe(first);
    expect(sequences.map(({ sequenceId }) => sequenceId)).toEqual([`${second}:0`, `${second}:1`]);
  });

  it('asks for a lost result itself when the server answers with the same request again', async () => {
    const { server, sampling } = await connect({ flags: SESSION_POLL }, { baseDelayMs: 1 });
    server.on('retrieveFuture').reply(410, { detail: 'gone' }).once();
    expect((await sampling.sample({ prompt, samplingParams })).sequences).toHaveLength(1);
    expect(server.count('asample')).toBe(2);
  });

  it('fails every sample, now and later, when the server ends the polling for good', async () => {
    const { server, sampling } = await connect({ flags: SESSION_POLL }, true);
    server.gate('asample', { at: 'execution' });
    server.on('retrieveFutures').reply(404, { detail: 'no such endpoint' });
    const samples = [sampling.sample({ prompt, samplingParams }), sampling.sample({ prompt, samplingParams })];
    for (const sample of samples) await expect(sample).rejects.toBeInstanceOf(NotFoundError);
    await expect(sampling.sample({ prompt, samplingParams })).rejects.toBeInstanceOf(NotFoundError);
    expect(server.count('retrieveFutures')).toBe(1);
  });

  it('learns that the server has lost a pending sample', async () => {
    const { server, sampling } = await connect({ flags: SESSION_POLL });
    const gate = server.gate('asample', { at: 'execution' });
    const sample = sampling.sample({ prompt, samplingParams });
    await gate.waitFor(1);
    await sample.submitted();
    server.expireFuture(sample.requestId ?? '');
    await expect(sample).rejects.toBeInstanceOf(FutureExpiredError);
  });
});

describe('cancel of abandoned samples', () => {
  it.each([
    { name: 'one poll per sample', flags: CANCEL },
    { name: 'one poll per session', flags: { ...CANCEL, ...SESSION_POLL } },
  ])('frees the server of samples that were aborted or ran out of time, with $name', async ({ flags }) => {
    const clock = new VirtualClock();
    const { server, sampling } = await connect({ flags }, false, clock);
    const gate = server.gate('asample', { at: 'execution' });
    const user = new AbortController();
    const aborted = [1, 2, 3].map(() => sampling.sample({ prompt, samplingParams }, { signal: user.signal }));
    const late = sampling.sample({ prompt, samplingParams }, { timeoutMs: 1_000 });
    const kept = sampling.sample({ prompt, samplingParams });
    await gate.waitFor(5);
    await Promise.all([...aborted, late, kept].map((sample) => sample.submitted()));
    user.abort();
    for (const sample of aborted) await expect(sample).rejects.toMatchObject({ name: 'AbortError' });
    await clock.advance(1_000);
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
    await server.waitForCalls('cancelFuture', 4);
    expect(server.maxConcurrency('cancelFuture')).toBeLessThanOrEqual(2);
    const canceled = server.callsTo('cancelFuture').map(({ request }) => request.requestId);
    expect(canceled.sort()).toEqual([...aborted, late].map(({ requestId }) => requestId).sort());
    gate.open();
    expect((await drive(clock, kept)).sequences).toHaveLength(1);
    server.verify();
  });

  it('sends nothing without the flag, nor for a sample that was not accepted, nor when the client is closed', async () => {
    const { server, sampling } = await connect({});
    const gate = server.gate('asample', { at: 'execution' });
    const user = new AbortController();
    const sample = sampling.sample({ prompt, samplingParams }, { signal: user.signal });
    await gate.waitFor(1);
    await sample.submitted();
    user.abort();
    await expect(sample).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.count('cancelFuture')).toBe(0);

    const { server: other, service, sampling: client } = await connect({ flags: CANCEL });
    const door = other.gate('asample', { at: 'request' });
    const early = new AbortController();
    const unsent = client.sample({ prompt, samplingParams }, { signal: early.signal });
    await door.waitFor(1);
    early.abort();
    await expect(unsent).rejects.toMatchObject({ name: 'AbortError' });
    door.open();
    other.gate('asample', { at: 'execution' });
    const pending = client.sample({ prompt, samplingParams });
    await pending.submitted();
    await service.close();
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
    expect(other.count('cancelFuture')).toBe(0);
  });

  it('follows the server, which may turn it on while the client runs', async () => {
    const clock = new VirtualClock();
    const { server, sampling } = await connect({}, false, clock);
    server.on('clientDynamicConfig').reply(200, { refreshIntervalSec: 300, sampleCancelEnabled: true, sampleCancelMaxBatchSize: 8 });
    await clock.advance(300_000);
    await server.waitForCalls('clientDynamicConfig', 2);
    const gate = server.gate('asample', { at: 'execution' });
    await drive(clock, Promise.resolve());
    const user = new AbortController();
    const sample = sampling.sample({ prompt, samplingParams }, { signal: user.signal });
    await gate.waitFor(1);
    await sample.submitted();
    user.abort();
    await expect(sample).rejects.toMatchObject({ name: 'AbortError' });
    await server.waitForCalls('cancelFuture', 1);
  });
});

describe('copies of a sampling client', () => {
  it('get their block of sequence IDs from the server, and wait for their own samples', async () => {
    const flags = { ...SESSION_POLL, sample_join_sampling_session: true };
    const { server, service, sampling } = await connect({ flags });
    const copies = [await SamplingClient.fromJSON(sampling.toJSON(), service), await SamplingClient.fromJSON(sampling.toJSON(), service)];
    await Promise.all([sampling, ...copies].map((client) => client.sample({ prompt, samplingParams })));
    expect(server.count('joinSamplingSession')).toBe(2);
    const seqIds = server.callsTo('asample').map(({ request }) => BigInt(request.seqId ?? -1));
    expect(seqIds.sort((a, b) => Number(a - b))).toEqual([0n, 1_000_000_000n, 2_000_000_000n]);
    const holders = server.callsTo('retrieveFutures').map(({ request }) => request.target.clonedSamplerId);
    expect([...new Set(holders)].sort()).toEqual([0, 1, 2]);
    server.verify();
  });

  it('refuse the block of the original', async () => {
    const { server, service, sampling } = await connect({ flags: { sample_join_sampling_session: true } });
    server.on('joinSamplingSession').reply(200, { clientCounter: 0 });
    await expect(SamplingClient.fromJSON(sampling.toJSON(), service)).rejects.toThrow(/clientCounter must be at least 1/);
  });

  it('take a random block without the flag, and record stability info like the original', async () => {
    const { server, service } = await connect({});
    const original = await service.createSamplingClient({ baseModel: 'tinkex/tiny', recordStabilityInfo: true });
    const copy = await SamplingClient.fromJSON(JSON.stringify(original), service);
    await Promise.all([original, copy].map((client) => client.sample({ prompt, samplingParams })));
    expect(server.count('joinSamplingSession')).toBe(0);
    expect(server.callsTo('asample').map(({ request }) => request.recordStabilityInfo)).toEqual([true, true]);
    expect(server.callsTo('asample').some(({ request }) => BigInt(request.seqId ?? 0) >= 1_000_000_000n)).toBe(true);
  });
});
