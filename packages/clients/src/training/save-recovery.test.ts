import { ConflictError, FutureExpiredError, ServerError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { type MiniServer, miniServer } from '../../test/support/mini-server.js';
import { answersInOrder } from '../../test/support/scripted-transport.js';

const path = 'tinker://S:train:0/weights/ckpt';

function checkpointsAre(server: MiniServer, ...times: number[]): void {
  server.routes.set('training_runs/S:train:0/checkpoints', () => ({
    body: {
      checkpoints: times.map((time) => ({
        checkpoint_id: 'weights/ckpt',
        checkpoint_type: 'training',
        time: new Date(time).toISOString(),
        tinker_path: path,
      })),
    },
  }));
}

const listed = (server: MiniServer) => server.transport.of('/checkpoints').length;
const saves = (server: MiniServer) => server.transport.of('save_weights').length;

describe('a save whose outcome is unclear', () => {
  it.each([
    ['a lost answer', { connection_error: true }],
    ['a timeout', { timeout: true }],
    ['a 502', { status: 502, body: {} }],
  ])('%s and then 409: the checkpoint is there, so the save is done', async (_, lost) => {
    const server = miniServer();
    const training = await server.training();
    checkpointsAre(server, server.clock.wallMs());
    server.routes.set('save_weights', answersInOrder([lost, { status: 409, body: { detail: 'exists' } }]));
    expect(await server.clock.runUntil(training.saveState('ckpt'))).toEqual({ path });
    expect([saves(server), listed(server)]).toEqual([2, 1]);
    await server.service.close();
  });

  it('an old checkpoint of the same name is a conflict, not a success', async () => {
    const server = miniServer();
    const training = await server.training();
    checkpointsAre(server, server.clock.wallMs() - 86_400_000);
    server.routes.set('save_weights', answersInOrder([{ connection_error: true }, { status: 409, body: {} }], true));
    await expect(server.clock.runUntil(training.saveState('ckpt'))).rejects.toThrow(ConflictError);
    await server.service.close();
  });

  it.each([
    ['saveState', 'save_weights', /pass overwrite: true/],
    ['saveWeightsForSampler', 'save_weights_for_sampler', /"ckpt" is taken, choose another\./],
  ] as const)(
    'a 409 to the first attempt of %s is the answer: immediately, and later operations continue',
    async (method, route, advice) => {
      const server = miniServer();
      const training = await server.training();
      checkpointsAre(server, server.clock.wallMs());
      server.routes.set(route, () => ({ status: 409, body: { detail: "Checkpoint 'ckpt' already exists" } }));
      const begunAtMs = server.clock.elapsedMs;
      const save = training[method]('ckpt').then(undefined, (error: unknown) => error);
      const later = training.optimStep();
      const failure = await server.clock.runUntil(save);
      expect(failure).toBeInstanceOf(ConflictError);
      expect((failure as Error).message).toMatch(advice);
      await server.clock.runUntil(later);
      expect(server.clock.elapsedMs).toBe(begunAtMs);
      expect([server.transport.of(route).length, listed(server)]).toEqual([1, 0]);
      await server.service.close();
    },
  );

  it('a server that fails with 500 because an older checkpoint has the name: three attempts, and later operations continue', async () => {
    const server = miniServer();
    const training = await server.training();
    checkpointsAre(server, server.clock.wallMs() - 86_400_000);
    server.routes.set('save_weights', () => ({ status: 500, body: 'Internal Server Error' }));
    const begunAtMs = server.clock.elapsedMs;
    const save = training.saveState('ckpt').then(undefined, (error: unknown) => error);
    const later = training.optimStep();
    const failure = await server.clock.runUntil(save);
    expect(failure).toBeInstanceOf(ServerError);
    expect((failure as Error).message).toContain('there is an older checkpoint "ckpt": choose another name');
    await server.clock.runUntil(later);
    expect(server.clock.elapsedMs - begunAtMs).toBeLessThan(10_000);
    expect([saves(server), listed(server)]).toEqual([3, 1]);
    await server.service.close();
  });

  it('a server that fails with 500 for another reason is asked again, as is one that must replace the checkpoint', async () => {
    for (const [overwrite, age] of [
      [false, undefined],
      [true, 86_400_000],
    ] as const) {
      const server = miniServer();
      const training = await server.training();
      if (age !== undefined) checkpointsAre(server, server.clock.wallMs() - age);
      const failed = Array.from({ length: 5 }, () => ({ status: 500, body: {} }));
      server.routes.set('save_weights', answersInOrder([...failed, { body: { request_id: 'save-1' } }]));
      expect((await server.clock.runUntil(training.saveState('ckpt', { overwrite }))).path).toContain('save-1');
      await server.service.close();
    }
  });

  it('a server that saves and then fails: found in the list', async () => {
    const server = miniServer();
    const training = await server.training();
    checkpointsAre(server, server.clock.wallMs());
    server.routes.set('save_weights', () => ({ status: 500, body: {} }));
    expect(await server.clock.runUntil(training.saveState('ckpt'))).toEqual({ path });
    expect(saves(server)).toBe(3);
    await server.service.close();
  });

  it('a conflict after a lost answer says that the save may have been made', async () => {
    const server = miniServer();
    const training = await server.training();
    server.routes.set('save_weights', answersInOrder([{ connection_error: true }, { status: 409, body: {} }], true));
    await expect(server.clock.runUntil(training.saveState('ckpt'))).rejects.toThrow('the operation may have run');
    await server.service.close();
  });

  it('a server that stays away for five minutes but has the checkpoint: found at the end', async () => {
    const server = miniServer();
    const training = await server.training();
    checkpointsAre(server, server.clock.wallMs());
    server.routes.set('save_weights', () => ({ status: 503, body: {} }));
    expect(await server.clock.runUntil(training.saveState('ckpt'))).toEqual({ path });
    expect(saves(server)).toBe(15);
    await server.service.close();
  });

  it('a list that is not available decides nothing', async () => {
    const server = miniServer();
    const training = await server.training();
    server.routes.set(
      'save_weights',
      answersInOrder([{ connection_error: true }, { status: 409, body: {} }, { body: { request_id: 'save-1' } }]),
    );
    expect((await server.clock.runUntil(training.saveState('ckpt'))).path).toContain('save-1');
    await server.service.close();
  });

  it('an expired future (410) of a save that happened resolves', async () => {
    const server = miniServer();
    const training = await server.training();
    checkpointsAre(server, server.clock.wallMs());
    server.routes.set('retrieve_future', () => ({ status: 410, body: {} }));
    expect(await server.clock.runUntil(training.saveState('ckpt', { headers: { 'x-team': 'a' } }))).toEqual({ path });
    expect(server.transport.of('/checkpoints')[0]?.headers).toMatchObject({ 'x-team': 'a' });
    await server.service.close();
  });

  it('what an earlier save has left under the same name is not taken for a later save that was lost', async () => {
    const server = miniServer();
    const training = await server.training();
    const savedAtMs = server.clock.wallMs();
    await server.clock.runUntil(training.saveState('ckpt', { overwrite: true }));
    checkpointsAre(server, savedAtMs);
    await server.clock.advance(30_000);
    server.routes.set('retrieve_future', () => ({ status: 410, body: {} }));
    const lost = [training.saveState('ckpt', { overwrite: true }), training.saveState('ckpt', { overwrite: true })];
    for (const save of lost) await expect(server.clock.runUntil(save)).rejects.toThrow(FutureExpiredError);

    // Another name was never used before; and long after, the times tell the two apart again.
    server.routes.set('training_runs/S:train:0/checkpoints', () => ({
      body: {
        checkpoints: [
          {
            checkpoint_id: 'weights/other',
            checkpoint_type: 'training',
            time: new Date(server.clock.wallMs()).toISOString(),
            tinker_path: 'tinker://o',
          },
        ],
      },
    }));
    expect(await server.clock.runUntil(training.saveState('other'))).toEqual({ path: 'tinker://o' });
    await server.clock.advance(120_000);
    checkpointsAre(server, server.clock.wallMs());
    expect(await server.clock.runUntil(training.saveState('ckpt', { overwrite: true }))).toEqual({ path });
    await server.service.close();
  });

  it('a refused save fails immediately, and later operations continue', async () => {
    const server = miniServer();
    const training = await server.training();
    server.routes.set('save_weights', () => ({ status: 422, body: { detail: 'bad name' } }));
    const save = training.saveState('../x');
    const step = training.optimStep();
    await expect(server.clock.runUntil(save)).rejects.toMatchObject({ status: 422 });
    await server.clock.runUntil(step);
    expect(server.submittedSeqIds()).toEqual([1, 2]);
    await server.service.close();
  });
});

describe('resume', () => {
  it('needs to know where from, and says so when there is nothing', async () => {
    const server = miniServer();
    await expect(server.clock.runUntil(server.service.resume({}))).rejects.toThrow('either trainingRunId or path');
    server.routes.set('training_runs/R/checkpoints', () => ({ body: { checkpoints: [] } }));
    await expect(server.clock.runUntil(server.service.resume({ trainingRunId: 'R' }))).rejects.toThrow('no training checkpoint');
    await server.service.close();
  });

  it('takes the newest training checkpoint that has not expired', async () => {
    const server = miniServer({ create_model_via_load_weights: true });
    const now = server.clock.wallMs();
    const checkpoint = (name: string, ageMs: number, more: Record<string, unknown> = {}) => ({
      checkpoint_id: `weights/${name}`,
      checkpoint_type: 'training',
      time: new Date(now - ageMs).toISOString(),
      tinker_path: `tinker://R/weights/${name}`,
      ...more,
    });
    server.routes.set('training_runs/R/checkpoints', () => ({
      body: {
        checkpoints: [
          checkpoint('old', 9_000),
          checkpoint('newest', 2_000),
          checkpoint('expired', 1_000, { expires_at: new Date(now - 1).toISOString() }),
          checkpoint('sampler', 500, { checkpoint_type: 'sampler' }),
        ],
      },
    }));
    const { path: resumedPath, checkpoint: found } = await server.clock.runUntil(server.service.resume({ trainingRunId: 'R' }));
    expect(resumedPath).toBe('tinker://R/weights/newest');
    expect(found?.checkpointId).toBe('weights/newest');
    expect(server.transport.of('load_weights')[0]?.body).toMatchObject({ path: resumedPath, optimizer: true });
    await server.service.close();
  });
});
