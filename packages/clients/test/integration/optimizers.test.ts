import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIALECTS, startServer, type TestServer } from '@tinkex/testkit';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type AdamParams,
  type DimuonParams,
  nextTokenDatum,
  type OptimStepParams,
  RestClient,
  ServiceClient,
  type TrainingClient,
  ValidationError,
} from '../../src/index.js';

const BASE = { baseModel: 'tinkex/tiny', rank: 4, seed: 1 } as const;
const DIMUON = { type: 'dimuon' } as const;
const data = ['one optimizer for the life of a model', 'and its state comes back'].map((text) => nextTokenDatum([...Buffer.from(text)]));
const params: DimuonParams = { learningRate: 1e-2, gradClipNorm: 5, beta1: 0.8 };

const connect = ({ url: baseUrl, apiKey }: TestServer) => new ServiceClient({ baseUrl, apiKey });

async function train(training: TrainingClient, steps: number, step: OptimStepParams = params): Promise<number[]> {
  const losses: number[] = [];
  for (let count = 0; count < steps; count++) {
    const { metrics } = await training.forwardBackward(data, 'cross_entropy');
    losses.push(metrics['loss:sum'] as number);
    await training.optimStep(step);
  }
  return losses;
}

describe.each([false, true])('a Dimuon run (created by one load: %s)', (isByLoad) => {
  const start = () => startServer({ config: { createModelViaLoadWeights: isByLoad } });

  it('is saved, resumed and continues bit for bit, and the resumed client knows its optimizer', async () => {
    await using server = await start();
    await using service = connect(server);
    const training = await service.createLoraTrainingClient({ ...BASE, optimizer: DIMUON });
    await train(training, 3);
    const { path } = await training.saveState('middle');
    const expected = await train(training, 3);

    await using other = connect(server);
    const byPath = await other.createTrainingClientFromStateWithOptimizer(path);
    const { training: byRun } = await other.resume({ path });
    for (const resumed of [byPath, byRun]) {
      expect(resumed.optimizer).toEqual({ type: 'dimuon', version: 1 });
      expect(await train(resumed, 3)).toEqual(expected);
      expect((await resumed.getInfo()).optimizerConfig).toEqual({ type: 'dimuon', version: 1 });
    }
    server.verify();
  });

  it('resumed without its state keeps the kind of optimizer; from weights alone the caller chooses', async () => {
    await using server = await start();
    await using service = connect(server);
    const training = await service.createLoraTrainingClient({ ...BASE, optimizer: DIMUON });
    await train(training, 2);
    const { path } = await training.saveState('middle');
    const { training: kept } = await service.resume({ path, withOptimizer: false });
    expect(kept.optimizer.type).toBe('dimuon');
    const chosen = await service.createTrainingClientFromState(path, { optimizer: DIMUON });
    expect(await train(chosen, 3)).toEqual(await train(kept, 3));
    const adam = await service.createTrainingClientFromState(path);
    expect(adam.optimizer.type).toBe('adamw');
    await train(adam, 1, { learningRate: 1e-2, beta2: 0.9 });
    server.verify();
  });
});

describe('a program that takes over a Dimuon run', () => {
  it('resumes it, downloads its weights and finishes its session', async () => {
    await using server = await startServer();
    const { path, expected } = await connect(server).run(async (service) => {
      const training = await service.createLoraTrainingClient({ ...BASE, optimizer: DIMUON });
      await train(training, 2);
      return { path: (await training.saveState('middle')).path, expected: await train(training, 2) };
    });

    const directory = await mkdtemp(join(tmpdir(), 'tinkex-dimuon-'));
    const { losses, sessionId, fileCount } = await connect(server).run(async (service) => {
      const { training } = await service.resume({ path });
      const continued = await train(training, 2);
      const saved = await training.saveState('end');
      const rest = service.createRestClient();
      const downloaded = await rest.downloadCheckpoint(saved.path, { directory: join(directory, 'end') });
      return { losses: continued, sessionId: await service.sessionId(), fileCount: downloaded.fileCount };
    });
    expect(losses).toEqual(expected);
    expect(await readdir(join(directory, 'end'))).toEqual(expect.arrayContaining(['adapter_config.json', 'adapter_model.safetensors']));
    expect(fileCount).toBeGreaterThanOrEqual(2);
    await rm(directory, { recursive: true });

    await using rest = new RestClient(server.clientOptions);
    const [session] = (await rest.searchSessions({ sessionId })).sessions;
    expect(session?.status).toEqual({ type: 'client_finished', reason: 'success' });
    server.verify();
  });
});

describe('parameters of another optimizer', () => {
  it.each([
    ['adamw', { type: 'dimuon', learningRate: 1 }, 'type', '{ learningRate, beta1, beta2, eps, weightDecay, gradClipNorm }'],
    ['dimuon', { learningRate: 1, eps: 1e-8 }, 'eps', 'trained with dimuon'],
    ['dimuon', { type: 'adamw', learningRate: 1 }, 'type', 'trained with dimuon'],
    ['dimuon', { type: 'other', raw: { type: 'brand_new' } }, 'type', 'trained with dimuon'],
    ['dimuon', {}, 'learningRate', 'is required'],
    ['dimuon', undefined, 'learningRate', 'is required'],
    ['dimuon', { learningRate: 1, beta1: 1 }, 'beta1', 'must be below 1'],
    ['dimuon', { learningRate: Number.POSITIVE_INFINITY }, 'learningRate', 'finite'],
    ['dimuon', { learningRate: 1, damping: 1 }, 'damping', 'is not a known option'],
  ])('%s refuses %j: nothing is sent, and the next operation runs', async (type, wrong, path, message) => {
    await using server = await startServer({ engine: 'canned' });
    await using service = connect(server);
    const training: TrainingClient = await service.createLoraTrainingClient({ ...BASE, optimizer: { type } as never });
    const error = await training.optimStep(wrong as never).catch((thrown: unknown) => thrown);
    expect(ValidationError.isInstance(error) && error.issues[0]).toEqual({ path, message: expect.stringContaining(message) });
    expect(server.callsTo('optimStep')).toHaveLength(0);
    await training.optimStep({ learningRate: 1 });
    expect(server.callsTo('optimStep').map(({ request }) => request.seqId)).toEqual([1]);
    server.verify();
  });

  it.each([{ type: 'dimuon', version: 2 }, { type: 'sgd' }, 'dimuon'])(
    'an optimizer %j that cannot exist is refused before anything is sent',
    async (optimizer) => {
      await using server = await startServer({ engine: 'canned' });
      await using service = connect(server);
      const options = { ...BASE, optimizer: optimizer as never };
      await expect(service.createLoraTrainingClient(options)).rejects.toThrow(/optimizerConfig/);
      await expect(service.createTrainingClientFromState('tinker://r/weights/x', options)).rejects.toThrow(/optimizerConfig/);
      expect(server.calls).toHaveLength(0);
    },
  );

  it('does not compile where the optimizer is known', () => {
    expectTypeOf<Parameters<TrainingClient<'adamw'>['optimStep']>[0]>().toEqualTypeOf<AdamParams | undefined>();
    expectTypeOf<Parameters<TrainingClient<'dimuon'>['optimStep']>[0]>().toEqualTypeOf<DimuonParams | undefined>();
    const create = (service: ServiceClient) => ({
      adam: service.createLoraTrainingClient(BASE),
      dimuon: service.createLoraTrainingClient({ ...BASE, optimizer: { type: 'dimuon' } }),
      chosen: service.createTrainingClientFromState('', { optimizer: { type: 'dimuon', version: 1 } }),
      kept: service.createTrainingClientFromStateWithOptimizer(''),
    });
    type Created = ReturnType<typeof create>;
    expectTypeOf<Awaited<Created['adam']>>().toEqualTypeOf<TrainingClient<'adamw'>>();
    expectTypeOf<Awaited<Created['dimuon']>>().toEqualTypeOf<TrainingClient<'dimuon'>>();
    expectTypeOf<Awaited<Created['chosen']>>().toEqualTypeOf<TrainingClient<'dimuon'>>();
    expectTypeOf<Awaited<Created['kept']>>().toEqualTypeOf<TrainingClient>();
  });
});

describe('what is sent', () => {
  it('leaves out the default optimizer, which older servers do not know', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = connect(server);
    const training = await service.createLoraTrainingClient({ ...BASE, optimizer: { type: 'adamw' } });
    await training.optimStep();
    const { path } = await training.saveState('a');
    await service.createTrainingClientFromState(path, { optimizer: { type: 'adamw' } });
    for (const { request } of [...server.callsTo('createModel'), ...server.callsTo('loadWeights')]) {
      expect(request).not.toHaveProperty('optimizerConfig');
    }
    expect(server.callsTo('optimStep')[0]?.request).not.toHaveProperty('optimizerParams');
  });

  it.each(['hosted', 'json'] as const)('carries texts of the loss, and where tokens come from, to a %s server', async (dialect) => {
    // Without sequence IDs the server does not look up where tokens come from.
    await using server = await startServer({ engine: 'canned', dialect: { ...DIALECTS[dialect], hasSequenceIds: false } });
    await using service = connect(server);
    const training = await service.createLoraTrainingClient(BASE);
    const [first] = data;
    if (first === undefined) throw new Error('no data');
    const { length } = first.modelInput;
    const spans = [
      { kind: 'prompt', sequenceId: 'q:0', offset: 0, length: 2 },
      { kind: 'sampled', sequenceId: 'q:0', offset: 3, length: length - 2 },
    ] as const;
    const provenance = { modelInput: spans, targetTokens: spans };
    const lossFnConfig = { mode: 'sequence', clip_low_threshold: 0.5, strict: true };
    await training.forwardBackward([{ ...first, provenance }], 'gspo', { lossFnConfig }).catch(() => undefined);
    const request = server.callsTo('forwardBackward').at(-1)?.request;
    expect(request?.lossFnConfig).toEqual({ mode: 'sequence', clip_low_threshold: 0.5, strict: 1 });
    expect(request?.data[0]?.provenance).toEqual(provenance);
  });

  it('never trains with another loss than the one asked for', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = connect(server);
    const training = await service.createLoraTrainingClient(BASE);
    await expect(training.forwardBackward(data, 'stable_reinforce')).rejects.toThrow(
      'The loss function "stable_reinforce" is not supported',
    );
  });
});
