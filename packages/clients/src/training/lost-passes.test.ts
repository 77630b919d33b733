import { ConflictError, nextTokenDatum } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { miniServer, seqIdOf } from '../../test/support/mini-server.js';

const data = [nextTokenDatum([1, 2, 3])];
const LOST = 0;

/**
 * A pass on a server whose format is not known yet, which answers each format with these statuses in turn and then with the last one. `LOST`
 * is a connection that ends before the answer.
 */
async function run(method: 'forward' | 'forwardBackward', answers: { protobuf: readonly number[]; json: readonly number[] }) {
  const server = miniServer({}, { maxRetries: 0 });
  const left = { protobuf: [...answers.protobuf], json: [...answers.json] };
  const sent: string[] = [];
  const seqIds = new Set<number>();
  for (const route of ['forward', 'forward_backward']) {
    server.routes.set(route, (request) => {
      const format = request.headers['content-type'] === 'application/x-protobuf' ? 'protobuf' : 'json';
      const status = (left[format].length > 1 ? left[format].shift() : left[format][0]) as number;
      sent.push(`${format} ${status}`);
      seqIds.add(seqIdOf(request));
      if (status === LOST) return { connection_error: true };
      return status === 200 ? { body: { request_id: 'forward' } } : { status, body: { detail: `refused ${format}` } };
    });
  }
  const training = await server.training();
  const pass = training[method](data, 'cross_entropy').then(
    () => 'done',
    (error: unknown) => error,
  );
  return { outcome: await server.clock.runUntil(pass, 600_000), sent, seqIds: [...seqIds] };
}

describe('a pass while the format of the server is open', () => {
  it('is submitted again in the format that the server has after its reply was lost', async () => {
    const { outcome, sent, seqIds } = await run('forwardBackward', { protobuf: [415], json: [LOST, 409, 200] });
    expect(outcome).toBe('done');
    expect(sent).toEqual(['protobuf 415', 'json 0', 'protobuf 415', 'json 409', 'protobuf 415', 'json 200']);
    expect(seqIds).toEqual([1]);
  });

  it.each([429, 500, 503])('survives a %i of the format that the server has', async (status) => {
    const { outcome, seqIds } = await run('forwardBackward', { protobuf: [415], json: [status, status, 200] });
    expect(outcome).toBe('done');
    expect(seqIds).toEqual([1]);
  });

  it.each([404, 405, 415])('survives a passing 500 of a server that answers the other format with %i', async (status) => {
    const { outcome, sent } = await run('forward', { protobuf: [500, 200], json: [status] });
    expect(outcome).toBe('done');
    expect(sent).toEqual(['protobuf 500', `json ${status}`, 'protobuf 200']);
  });

  it('names the doubt when its reply was lost and its sequence ID is taken for good', async () => {
    const { outcome, seqIds } = await run('forwardBackward', { protobuf: [LOST, 409], json: [200] });
    expect(outcome).toBeInstanceOf(ConflictError);
    expect((outcome as Error).message).toContain('may have run');
    expect(seqIds).toEqual([1]);
  });
});
