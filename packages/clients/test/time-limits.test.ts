import { ConflictError, nextTokenDatum, TimeoutError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { miniServer } from './support/mini-server.js';
import { answersInOrder, later } from './support/scripted-transport.js';

const data = [nextTokenDatum([1, 2, 3])];
const failureOf = (call: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(call).then(
    () => new Error('it succeeded'),
    (error: Error) => error,
  );

describe('the error of a time limit', () => {
  it('says what the server answered, how often, and carries it as its cause', async () => {
    const server = miniServer();
    await server.training();
    server.routes.set('weights_info', () => ({ status: 500, body: { detail: 'the disk is full' } }));
    const call = server.service.createTrainingClientFromState('tinker://nope/weights/x', { timeoutMs: 20_000 });
    const failure = await server.clock.runUntil(failureOf(call));
    expect(failure).toBeInstanceOf(TimeoutError);
    expect(failure.message).toMatch(/limit of 20000 ms\. \d+ attempts had failed, the last with: .*status 500/);
    expect((failure as TimeoutError).attempts).toBeGreaterThan(1);
    await server.service.close();
  });

  it('names the last error of a submission, and that nothing was accepted', async () => {
    const server = miniServer({}, { maxRetries: 0 });
    const training = await server.training();
    server.routes.set('optim_step', () => ({ status: 503, body: { detail: 'starting up' } }));
    const failure = await server.clock.runUntil(failureOf(training.optimStep({}, { timeoutMs: 5_000 })));
    expect(failure.message).toContain('starting up');
    expect(failure.message).toContain('had not accepted the operation');
    expect(failure.cause).toMatchObject({ status: 503 });
    await server.service.close();
  });

  it('names the request that the server has accepted, and failed polls', async () => {
    const server = miniServer();
    const training = await server.training();
    server.routes.set('retrieve_future', () => later(server.clock, 400, { status: 502, body: { detail: 'bad gateway' } }));
    const failure = await server.clock.runUntil(failureOf(training.forward(data, 'cross_entropy', { timeoutMs: 2_000 })));
    expect(failure.message).toMatch(/status 502: bad gateway\. The server has accepted the operation \(request ID forward_backward-1\)/);
    await server.service.close();
  });

  it('is plain when nothing failed', async () => {
    const server = miniServer();
    const training = await server.training();
    server.routes.set('get_info', () => later(server.clock, 9_000, { body: {} }));
    const failure = await server.clock.runUntil(failureOf(training.getInfo({ timeoutMs: 1_000 })));
    expect(failure.message).toBe('The call took longer than its limit of 1000 ms.');
    await server.service.close();
  });
});

describe('a conflict', () => {
  it('after a lost answer says that the operation may have run', async () => {
    const server = miniServer();
    const training = await server.training();
    server.routes.set('optim_step', answersInOrder([{ connection_error: true }, { status: 409, body: { detail: 'seq_id 1' } }], true));
    const failure = await server.clock.runUntil(failureOf(training.optimStep()));
    expect(failure).toBeInstanceOf(ConflictError);
    expect(failure.message).toContain('The answer to an earlier attempt was lost: the operation may have run.');
    await server.service.close();
  });

  it('without one does not', async () => {
    const server = miniServer();
    const training = await server.training();
    server.routes.set('optim_step', () => ({ status: 409, body: { detail: 'seq_id 1' } }));
    const failure = await server.clock.runUntil(failureOf(training.optimStep()));
    expect(failure.message).not.toContain('may have run');
    await server.service.close();
  });
});
