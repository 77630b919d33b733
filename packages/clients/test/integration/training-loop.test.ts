import { subscribe, systemClock } from '@tinkex/http';
import { startServer, type TestServer } from '@tinkex/testkit';
import {
  AbortedError,
  ByteTokenizer,
  type Datum,
  datum,
  FutureExpiredError,
  ModelInput,
  nextTokenDatum,
  RequestFailedError,
  TensorData,
  TimeoutError,
} from '@tinkex/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FutureProgress, ServiceClient, type ServiceClientOptions, type TrainingClient } from '../../src/index.js';

const BASE_MODEL = 'tinkex/tiny';
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', onUnhandled);
});
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled).toEqual([]);
});

const one = (token = 1): Datum =>
  datum({ modelInput: ModelInput.fromInts([token, 2, 3]), lossFnInputs: { targetTokens: [2, 3, 4], weights: [1, 1, 1] } });

const output = (count: number, metrics: Record<string, number>, first: number) => ({
  lossFnOutputType: 'ArrayRecord',
  lossFnOutputs: Array.from({ length: count }, (_, index) => ({ logprobs: TensorData.fromArray([first + index], 'float32') })),
  metrics,
});

/** Waits of a minute in a second, for rules that make the client wait. */
const hurriedClock = {
  ...systemClock,
  setTimeout: (callback: () => void, delayMs: number) => setTimeout(callback, delayMs / 60).unref(),
};

async function connect(
  server: TestServer,
  options: ServiceClientOptions = {},
): Promise<{ service: ServiceClient; training: TrainingClient }> {
  const service = new ServiceClient({ ...server.clientOptions, heartbeatIntervalMs: 60_000, ...options });
  return { service, training: await service.createLoraTrainingClient({ baseModel: BASE_MODEL, rank: 4, seed: 7 }) };
}

/** The script of scenario A.1, by the size of the chunks. Returns the sequence IDs in the order in which the server runs them. */
function scriptTwoChunks(server: TestServer): number[] {
  const executed: number[] = [];
  const noted =
    <T>(value: T) =>
    ({ request }: { readonly request: unknown }): T => {
      executed.push((request as { readonly seqId: number }).seqId);
      return value;
    };
  server
    .on('forwardBackward')
    .when(({ request }) => request.data.length === 1024)
    .result(noted(output(1, { 'loss:mean': 1, 'grad:sum': 10 }, 100)));
  server
    .on('forwardBackward')
    .when(({ request }) => request.data.length === 1)
    .result(noted(output(3, { 'loss:mean': 3, 'grad:sum': 20 }, 200)));
  server.on('optimStep').result(noted({ metrics: { learning_rate: 0.02 } }));
  server.on('saveWeightsForSampler').result(noted({ path: 'tinker://run/sampler_weights/step-1' }));
  return executed;
}

describe('A. End-to-end training loop', () => {
  it('A.1 two chunks, an optimizer step and a sampler save: order, outputs and metrics', async () => {
    await using server = await startServer();
    const executed = scriptTwoChunks(server);
    const { service, training } = await connect(server);
    const { metrics, lossFnOutputs } = await training.forwardBackward(
      Array.from({ length: 1025 }, () => one()),
      'cross_entropy',
    );
    const step = await training.optimStep({ learningRate: 0.02 });
    const { path } = await training.saveWeightsForSampler('step-1');
    expect(metrics['loss:mean']).toBeCloseTo(2.5, 12);
    expect(metrics['grad:sum']).toBe(30);
    expect(lossFnOutputs.map((entry) => entry['logprobs']?.toArray())).toEqual([[100], [200], [201], [202]]);
    expect(step.metrics).toEqual({ learning_rate: 0.02 });
    expect(path).toBe('tinker://run/sampler_weights/step-1');
    expect(executed).toEqual([1, 2, 3, 4]);
    // The protocol sends the first chunk last; the server still runs them in order.
    expect(server.callsTo('forwardBackward').map(({ request }) => request?.seqId)).toEqual([2, 1]);
    server.verify();
    await service.close();
  });

  it('A.2 the same calls without awaits give the same order under any network delay (100 seeds)', async () => {
    await using server = await startServer({ config: { fwdbwdMaxChunkLen: 2 } });
    await using service = new ServiceClient({ ...server.clientOptions, middleware: [delayed()] });
    const training = await service.createLoraTrainingClient({ baseModel: BASE_MODEL, rank: 2 });
    const executed: number[] = [];
    const note =
      <T>(value: T) =>
      (call: { request: unknown }): T => {
        executed.push((call.request as { seqId: number }).seqId);
        return value;
      };
    server.on('forwardBackward').result(note(output(1, {}, 0)));
    server.on('optimStep').result(note({ metrics: {} }));
    server.on('saveWeightsForSampler').result(note({ path: 'tinker://run/sampler_weights/x' }));
    for (let seed = 0; seed < 100; seed += 1) {
      const first = seed * 5 + 1;
      executed.length = 0;
      const futures = [
        training.forwardBackward([one(), one(), one()], 'cross_entropy'),
        training.optimStep(),
        training.forwardBackward([one()], 'cross_entropy'),
        training.saveWeightsForSampler(`s-${seed}`),
      ] as const;
      await Promise.all(futures);
      expect(executed).toEqual([first, first + 1, first + 2, first + 3, first + 4]);
    }
    server.verify();
  });

  it('A.3 thirty steps on the embedded engine: the loss falls by more than half, the sampler learns the continuation', async () => {
    await using server = await startServer();
    const { service, training } = await connect(server);
    const tokens = Array.from(new ByteTokenizer().encode('the quick brown fox jumps over the lazy dog'));
    const data = [nextTokenDatum(tokens)];
    const losses: number[] = [];
    for (let step = 0; step < 30; step += 1) {
      const pass = training.forwardBackward(data, 'cross_entropy');
      const update = training.optimStep({ learningRate: 0.05 });
      losses.push((await pass).metrics['loss:sum'] ?? Number.NaN);
      await update;
    }
    expect(losses.at(-1)).toBeLessThan((losses[0] ?? 0) / 2);
    const { path } = await training.saveWeightsForSampler('trained');
    const prompt = ModelInput.fromInts(tokens);
    const sum = async (sampling: { computeLogprobs(prompt: ModelInput): PromiseLike<Float32Array> }) =>
      (await sampling.computeLogprobs(prompt)).reduce((total, value) => total + (Number.isNaN(value) ? 0 : value), 0);
    const trained = await sum(await service.createSamplingClient({ modelPath: path }));
    const base = await sum(await service.createSamplingClient({ baseModel: BASE_MODEL }));
    expect(trained).toBeGreaterThan(base);
    server.verify();
    await service.close();
  });

  it('A.4 a run resumed with its optimizer state continues exactly; without it only the forward loss agrees', async () => {
    await using server = await startServer();
    const { service, training } = await connect(server);
    const data = [one(5), one(6)];
    const step = async (client: TrainingClient): Promise<number> => {
      const pass = client.forwardBackward(data, 'cross_entropy');
      await client.optimStep({ learningRate: 0.05 });
      return (await pass).metrics['loss:sum'] ?? Number.NaN;
    };
    for (let index = 0; index < 3; index += 1) await step(training);
    const { path } = await training.saveState('step-3');
    const uninterrupted = [await step(training), await step(training)];
    const exact = await service.createTrainingClientFromStateWithOptimizer(path);
    expect([await step(exact), await step(exact)]).toEqual(uninterrupted);
    const fresh = await service.createTrainingClientFromState(path);
    const [first, second] = [await step(fresh), await step(fresh)];
    expect(first).toBe(uninterrupted[0]);
    expect(second).not.toBe(uninterrupted[1]);
    const resumed = await service.resume({ trainingRunId: training.modelId });
    expect(resumed.path).toBe(path);
    expect([await step(resumed.training), await step(resumed.training)]).toEqual(uninterrupted);
    server.verify();
    await service.close();
  });

  it('A.5 waits: single, group, progress, queue states, time limit, abort of one of two', async () => {
    await using server = await startServer({ longPollMs: 50 });
    const { service, training } = await connect(server);
    const gate = server.gate('optimStep', { at: 'execution' });
    server.pauseQueue({ state: 'paused_capacity', reason: 'waiting for GPUs' });
    const step = training.optimStep();
    const states: string[] = [];
    step.onQueueState(({ state, reason }) => states.push(`${state}: ${reason}`));
    const progress: FutureProgress[] = [];
    const watching = (async () => {
      for await (const each of step) progress.push(each);
    })();
    await step.submitted();
    expect(step.requestId).toBeTypeOf('string');
    await expect(step.result({ timeoutMs: 30 })).rejects.toSatisfy((error) => TimeoutError.isInstance(error) && error.phase === 'wait');
    const controller = new AbortController();
    const [abandoned, kept] = [step.result({ signal: controller.signal }), step.result()];
    controller.abort();
    await expect(abandoned).rejects.toSatisfy(AbortedError.isInstance);
    while (states.length === 0) await new Promise((resolve) => setImmediate(resolve));
    server.resumeQueue();
    gate.open();
    const group = await Promise.all([kept, step, training.optimStep()]);
    expect(group).toHaveLength(3);
    await watching;
    expect(states).toContain('paused_capacity: waiting for GPUs');
    expect(progress.at(-1)).toMatchObject({ status: 'resolved', requestId: step.requestId });
    expect(progress.some(({ queueState }) => queueState === 'paused_capacity')).toBe(true);
    server.verify();
    await service.close();
  });

  it('A.6 failures: user, server, expired, metadata only, 408 with queue state, blank 400', async () => {
    await using server = await startServer({ longPollMs: 50 });
    const { service, training } = await connect(server);
    server.on('optimStep').fail({ error: 'bad learning rate', category: 'user' }).once();
    await expect(training.optimStep()).rejects.toSatisfy((error) => RequestFailedError.isInstance(error) && error.category === 'user');
    server.on('optimStep').fail({ error: 'a GPU died', category: 'server' }).once();
    await expect(training.optimStep()).rejects.toSatisfy((error) => RequestFailedError.isInstance(error) && error.category === 'server');

    server.on('retrieveFuture').reply(410, { detail: 'gone' }).once();
    await expect(training.optimStep()).rejects.toSatisfy(FutureExpiredError.isInstance);

    server.on('retrieveFuture').reply(200, { status: 'complete_metadata', response_payload_size: 1000 }).once();
    await training.forwardBackward([one()], 'cross_entropy');
    expect(
      server
        .callsTo('retrieveFuture')
        .slice(-2)
        .map(({ request }) => request?.allowMetadataOnly),
    ).toEqual([true, false]);

    const states: unknown[] = [];
    const stop = subscribe('tinkex:queue:state_change', ({ to, reason }) => states.push([to, reason]));
    server.on('retrieveFuture').reply(408, { queueState: 'paused_rate_limit', queueStateReason: 'busy' }).once();
    await training.optimStep();
    stop();
    expect(states).toEqual([['paused_rate_limit', 'busy']]);
    await service.close();

    server.on('retrieveFuture').reply(400, '').once();
    const second = await connect(server, { clock: hurriedClock });
    await second.training.optimStep();
    server.verify();
    await second.service.close();
  });

  it('A.6 the same failures leave the client usable and nothing behind', async () => {
    await using server = await startServer();
    const { service, training } = await connect(server);
    server.on('optimStep').fail({ error: 'no', category: 'server' }).times(3);
    const unobserved: string[] = [];
    const stop = subscribe('tinkex:future:unobserved_failure', ({ errorCode }) => unobserved.push(errorCode));
    const doomed = [training.optimStep(), training.optimStep(), training.optimStep()];
    const good = await training.forward([one()], 'cross_entropy');
    stop();
    expect(good.lossFnOutputs).toHaveLength(1);
    expect(doomed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(unobserved).toHaveLength(3);
    await service.close();
    expect(server.inFlight()).toBe(0);
  });
});

/** A network with a separate delay for each request, decided by a seeded generator. */
function delayed() {
  let state = 1;
  return async <Request, Response>(request: Request, next: (request: Request) => Promise<Response>): Promise<Response> => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    for (let turns = state % 7; turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
    return next(request);
  };
}
