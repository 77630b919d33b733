import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DialectName, startServer, type TestServer } from '@tinkex/testkit';
import {
  BadRequestError,
  ConfigurationError,
  ConflictError,
  lossOf,
  NotFoundError,
  nextTokenDatum,
  RequestFailedError,
  UnprocessableEntityError,
} from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { ServiceClient, type ServiceClientOptions, type TrainingClient } from '../../src/index.js';

const BASE_MODEL = 'tinkex/tiny';
const data = [nextTokenDatum([10, 20, 30, 40])];
const prompt = [10, 20, 30];

interface Connected extends AsyncDisposable {
  readonly server: TestServer;
  readonly service: ServiceClient;
  readonly training: TrainingClient;
}

async function connect(dialect: DialectName, options: Partial<ServiceClientOptions> = {}): Promise<Connected> {
  const server = await startServer({ dialect });
  const service = new ServiceClient({ ...server.clientOptions, ...options });
  const training = await service.createLoraTrainingClient({ baseModel: BASE_MODEL, rank: 2, seed: 1 });
  return {
    server,
    service,
    training,
    async [Symbol.asyncDispose]() {
      await service.close();
      await server.close();
    },
  };
}

describe('a server that fails on protobuf', () => {
  it.each(['skyrl-tx', 'open-rl'] as const)('%s gets JSON after one try, from every client of the process', async (dialect) => {
    await using connected = await connect(dialect);
    const { server, training } = connected;
    await training.forwardBackward(data, 'cross_entropy');
    await training.forwardBackward(data, 'cross_entropy');
    const [submitted] = server.callsTo('forwardBackward').slice(1);
    expect(server.callsTo('forwardBackward').map(({ status }) => status)).toEqual([500, submitted?.status, submitted?.status]);
    await using second = new ServiceClient(server.clientOptions);
    const other = await second.createLoraTrainingClient({ baseModel: BASE_MODEL, rank: 2 });
    await other.forwardBackward(data, 'cross_entropy');
    expect(server.callsTo('forwardBackward').filter(({ status }) => status === 500)).toHaveLength(1);
    server.verify();
  });
});

describe('a server that sends no metrics', () => {
  it.each(['skyrl', 'skyrl-tx'] as const)('%s has a loss all the same, and it falls', async (dialect) => {
    await using connected = await connect(dialect);
    const { training } = connected;
    const losses: number[] = [];
    for (let step = 0; step < 5; step++) {
      const pass = training.forwardBackward(data, 'cross_entropy');
      await training.optimStep({ learningRate: 0.05 });
      const output = await pass;
      expect(output.metrics).toEqual({});
      losses.push(lossOf(output, data) ?? Number.NaN);
    }
    expect(losses.at(-1)).toBeLessThan(losses[0] ?? Number.NaN);
  });
});

describe('a name that is taken', () => {
  it('is a conflict on skyrl, immediately, and the next operation runs', async () => {
    await using connected = await connect('skyrl');
    const { server, training } = connected;
    await training.saveState('same');
    await training.saveWeightsForSampler('same');
    const again = [training.saveState('same'), training.saveWeightsForSampler('same')];
    const next = training.optimStep({ learningRate: 0.01 });
    for (const save of again) {
      const failure = await save.then(() => undefined, String);
      expect(failure).toContain('already exists');
    }
    await expect(again[0]).rejects.toBeInstanceOf(ConflictError);
    await next;
    expect([server.count('saveWeights'), server.count('saveWeightsForSampler')]).toEqual([2, 2]);
    await training.saveState('same', { overwrite: true });
  });

  it('is named on skyrl-tx, which fails with 500, after three attempts', async () => {
    await using connected = await connect('skyrl-tx');
    const { server, training } = connected;
    await training.saveState('same');
    const again = training.saveState('same');
    const next = training.optimStep({ learningRate: 0.01 });
    await expect(again).rejects.toThrow(/older checkpoint "same"/);
    await next;
    expect(server.count('saveWeights')).toBe(4);
  });

  it.each(['tuft', 'open-rl'] as const)('is used again on %s', async (dialect) => {
    await using connected = await connect(dialect);
    const first = await connected.training.saveState('same');
    expect(await connected.training.saveState('same')).toEqual(first);
  });
});

describe('checkpoints with other paths', () => {
  it('of SkyRL are downloaded under the ID that its list gives', async () => {
    await using connected = await connect('skyrl-tx');
    const { service, training, server } = connected;
    const { path } = await training.saveWeightsForSampler('final');
    expect(path).toBe(`tinker://${training.modelId}/final`);
    const rest = service.createRestClient();
    expect((await rest.getCheckpointArchiveUrlFromTinkerPath(path)).url).toMatch(/^http:/);
    const directory = await mkdtemp(join(tmpdir(), 'tinkex-'));
    try {
      await rest.downloadCheckpoint(path, { directory, overwrite: true });
      expect(await readdir(directory)).toContain('adapter_model.safetensors');
    } finally {
      await rm(directory, { recursive: true });
    }
    await expect(rest.deleteCheckpointFromTinkerPath(path)).rejects.toBeInstanceOf(NotFoundError);
    server.verify();
  });

  it('of TuFT are on its disk: the place is shown, and read only if that is allowed', async () => {
    await using connected = await connect('tuft');
    const { service, training } = connected;
    const { path } = await training.saveState('state');
    const rest = service.createRestClient();
    expect((await rest.getCheckpointArchiveUrlFromTinkerPath(path)).url).toMatch(/^file:\/\/\/checkpoints\//);
    const target = { directory: join(tmpdir(), 'tinkex-never-written') };
    const refusal = rest.downloadCheckpoint(path, target);
    await expect(refusal).rejects.toBeInstanceOf(ConfigurationError);
    await expect(refusal).rejects.toThrow(/file:\/\/\/checkpoints\/.*allowLocalFiles: true/);
    await expect(rest.downloadCheckpoint(path, { ...target, allowLocalFiles: true })).rejects.toThrow(/cannot be read on this machine/);
  });

  it('that the server does not offer at all are a NotFoundError, with 405 too', async () => {
    await using connected = await connect('tuft');
    const rest = connected.service.createRestClient();
    const { path } = await connected.training.saveState('state');
    await expect(rest.setCheckpointTtlFromTinkerPath(path, 3600)).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe('a server without gaps in sequence IDs', () => {
  it('ends a training client with a refused operation, which the next one explains', async () => {
    await using connected = await connect('tuft');
    const { server, training } = connected;
    await training.optimStep({ learningRate: 0.01 });
    server.on('forwardBackward').reply(422, { detail: 'unknown loss' }).once();
    await expect(training.forwardBackward(data, 'no_such_loss')).rejects.toBeInstanceOf(UnprocessableEntityError);
    const next = training.optimStep({ learningRate: 0.01 });
    await expect(next).rejects.toBeInstanceOf(RequestFailedError);
    await expect(next).rejects.toThrow(/this training client cannot continue.*createTrainingClientFromStateWithOptimizer/);
  });

  it('continues after an operation that failed', async () => {
    await using connected = await connect('tuft');
    const { server, training } = connected;
    server.on('optimStep').fail({ error: 'bad rate', category: 'user' }).once();
    await expect(training.optimStep({ learningRate: 0.01 })).rejects.toMatchObject({ category: 'user' });
    await training.optimStep({ learningRate: 0.01 });
  });
});

describe('sampling', () => {
  it('sends one stop text as a list, which SkyRL requires', async () => {
    await using connected = await connect('skyrl-tx');
    const sampling = await connected.service.createSamplingClient({ baseModel: BASE_MODEL });
    const { sequences } = await sampling.sample({ prompt, samplingParams: { maxTokens: 2, stop: 'a' } });
    expect(sequences).toHaveLength(1);
    await expect(sampling.sample({ prompt })).rejects.toBeInstanceOf(BadRequestError);
    expect(connected.server.count('asample'), 'a refusal is not retried').toBe(2);
  });

  it('knows its base model on a server that does not describe samplers', async () => {
    await using connected = await connect('skyrl-tx');
    const { service, training } = connected;
    const sampling = await service.createSamplingClient({ baseModel: BASE_MODEL });
    expect(await sampling.getBaseModel()).toBe(BASE_MODEL);
    await sampling.getTokenizer();
    const { path } = await training.saveWeightsForSampler('trained');
    const trained = await service.createSamplingClient({ modelPath: path });
    await expect(trained.getBaseModel()).rejects.toBeInstanceOf(NotFoundError);
  });

  it('aligns prompt logprobs that come one entry short, and names missing ones', async () => {
    await using short = await connect('skyrl-tx');
    await using full = await connect('json');
    await using absent = await connect('open-rl');
    const scored = await (await short.service.createSamplingClient({ baseModel: BASE_MODEL })).computeLogprobs(prompt);
    expect(scored).toHaveLength(prompt.length);
    expect(scored).toEqual(await (await full.service.createSamplingClient({ baseModel: BASE_MODEL })).computeLogprobs(prompt));
    const sampling = await absent.service.createSamplingClient({ baseModel: BASE_MODEL });
    await expect(sampling.computeLogprobs(prompt)).rejects.toThrow(/prompt_?logprobs/i);
  });
});
