import { startServer } from '@tinkex/testkit';
import { nextTokenDatum } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { type CustomLoss, ServiceClient } from '../src/index.js';

const data = [nextTokenDatum([10, 20, 30, 40])];
const sum: CustomLoss = (_, logprobs) => ({
  loss: -logprobs.flatMap(({ data: values }) => [...values]).reduce((total, value) => total + value, 0),
  gradients: logprobs.map(({ data: values }) => new Float32Array(values.length).fill(-1)),
});

describe('one unfinished operation at a time', () => {
  it('submits each operation after the result of the one before, also after one with two passes and one that failed', async () => {
    await using server = await startServer();
    await using service = new ServiceClient({ ...server.clientOptions, limits: { maxUnfinishedOperations: 1 } });
    const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2, seed: 1 });
    const first = training.forwardBackwardCustom(data, sum);
    const step = training.optimStep({ learningRate: 0.05 });
    server.on('optimStep').fail({ error: 'bad rate', category: 'user' }).once();
    const second = training.forwardBackward(data, 'cross_entropy');
    const saved = training.saveState('state');
    const sampling = training.saveWeightsAndGetSamplingClient();
    await first;
    await expect(step).rejects.toThrow('bad rate');
    await Promise.all([second, saved, sampling]);
    const unfinished = server.calls
      .filter(({ route }) => SUBMISSIONS.has(String(route)) || route === 'retrieveFuture')
      .map(({ route }) => route);
    // No two submissions without a poll between them.
    expect(unfinished.filter((route, index) => route !== 'retrieveFuture' && SUBMISSIONS.has(String(unfinished[index - 1])))).toEqual([]);
    server.verify();
  });

  it('lets go of an operation that is aborted', async () => {
    await using server = await startServer();
    await using service = new ServiceClient({ ...server.clientOptions, limits: { maxUnfinishedOperations: 1 } });
    const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2, seed: 1 });
    const gate = server.gate('optimStep', { at: 'execution' });
    const controller = new AbortController();
    const aborted = training.optimStep({}, { signal: controller.signal }).then(undefined, String);
    const next = training.optimStep({ learningRate: 0.05 });
    await gate.waitFor(1);
    expect(server.count('optimStep')).toBe(1);
    controller.abort();
    expect(await aborted).toContain('aborted');
    await server.waitForCalls('optimStep', 2);
    gate.open();
    await next;
  });
});

const SUBMISSIONS: ReadonlySet<string> = new Set(['forwardBackward', 'optimStep', 'saveWeights', 'saveWeightsForSampler']);
