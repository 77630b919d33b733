import { systemClock } from '@tinkex/http';
import { DIALECTS, type Dialect, type DialectName, startServer } from '@tinkex/testkit';
import { datum, ModelInput, RequestFailedError, UnprocessableEntityError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { ServiceClient } from '../../src/index.js';

const BASE_MODEL = 'tinkex/tiny';
const one = datum({ modelInput: ModelInput.fromInts([1, 2, 3]), lossFnInputs: { targetTokens: [2, 3, 4], weights: [1, 1, 1] } });
const names = Object.keys(DIALECTS) as DialectName[];

/** Delays of a minute in a second: for servers whose rules make a client wait. */
const hurriedClock = {
  ...systemClock,
  setTimeout: (callback: () => void, delayMs: number) => setTimeout(callback, delayMs / 60).unref(),
};

describe.each(names)('a server of the dialect %s', (name) => {
  it('is trained, saved, loaded and sampled as any other', async () => {
    await using server = await startServer({ dialect: name, config: { fwdbwdMaxChunkLen: 2 } });
    await using service = new ServiceClient(server.clientOptions);
    const training = await service.createLoraTrainingClient({ baseModel: BASE_MODEL, rank: 2 });
    const pass = training.forwardBackward([one, one, one], 'cross_entropy');
    const step = training.optimStep({ learningRate: 0.01 });
    const { lossFnOutputs } = await pass;
    await step;
    expect(lossFnOutputs).toHaveLength(3);
    expect(lossFnOutputs[0]?.['logprobs']?.data).toHaveLength(3);
    const { path } = await training.saveState('state-1');
    const dialect: Dialect = DIALECTS[name];
    const loaded =
      dialect.loads === 'any'
        ? await training.loadStateWithOptimizer(path).then(() => training)
        : await service.createTrainingClientFromStateWithOptimizer(path);
    const hasForward = !dialect.missingRoutes.includes('forward') || dialect.requestFormats.includes('protobuf');
    const again = hasForward ? loaded.forward([one], 'cross_entropy') : loaded.forwardBackward([one], 'cross_entropy');
    expect((await again).lossFnOutputs).toHaveLength(1);
    const sampling = await training.saveWeightsAndGetSamplingClient();
    const { sequences } = await sampling.sample({ prompt: ModelInput.fromInts([1, 2]), samplingParams: { maxTokens: 2 } });
    expect(sequences[0]?.tokens).toHaveLength(2);
    server.verify();
  });

  it('reports a failed operation as one, after finitely many polls', async () => {
    await using server = await startServer({ dialect: name });
    await using service = new ServiceClient({ ...server.clientOptions, clock: hurriedClock });
    const training = await service.createLoraTrainingClient({ baseModel: BASE_MODEL, rank: 2 });
    server.on('optimStep').fail({ error: 'the learning rate is bad', category: 'user' }).once();
    const failure = await training.optimStep().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(RequestFailedError);
    expect((failure as Error).message).toContain('the learning rate is bad');
    await training.optimStep();
  });
});

describe('finding out the dialect', () => {
  it('asks for the type of the body once for each client, and runs nothing twice', async () => {
    await using server = await startServer({ dialect: 'json' });
    await using service = new ServiceClient(server.clientOptions);
    const training = await service.createLoraTrainingClient({ baseModel: BASE_MODEL, rank: 2 });
    await Promise.all([
      training.forwardBackward([one], 'cross_entropy'),
      training.forwardBackward([one], 'cross_entropy'),
      training.optimStep(),
    ]);
    expect(server.callsTo('forwardBackward').map(({ status }) => status)).toEqual([415, 200, 200]);
    server.verify();
  });

  it('shows a refusal of the data by a protobuf server as itself', async () => {
    const strict: Dialect = { ...DIALECTS.hosted, refusedFormatStatus: 415 };
    await using server = await startServer({ dialect: strict, ignoreRules: [] });
    await using service = new ServiceClient(server.clientOptions);
    const training = await service.createLoraTrainingClient({ baseModel: BASE_MODEL, rank: 2 });
    server.on('forwardBackward').reply(422, { detail: 'sequence too long' }).once();
    await expect(training.forwardBackward([one], 'cross_entropy')).rejects.toSatisfy(
      (error) => error instanceof UnprocessableEntityError && error.message.includes('sequence too long'),
    );
    await training.forwardBackward([one], 'cross_entropy');
  });

  it.each(['protobuf', 'json'] as const)('wireFormat %s is kept to', async (wireFormat) => {
    await using server = await startServer({ dialect: 'both' });
    await using service = new ServiceClient({ ...server.clientOptions, wireFormat });
    const training = await service.createLoraTrainingClient({ baseModel: BASE_MODEL, rank: 2 });
    await training.forwardBackward([one], 'cross_entropy');
    const [submission] = server.callsTo('forwardBackward');
    expect(submission?.headers['content-type']).toContain(wireFormat === 'json' ? 'json' : 'protobuf');
    expect(server.callsTo('retrieveFuture').at(-1)?.headers['accept']).toContain(wireFormat === 'json' ? 'json' : 'protobuf');
    server.verify();
  });
});
