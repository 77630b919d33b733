import type { WireFormat } from '@tinkex/types';
import { BadRequestError, nextTokenDatum, UnprocessableEntityError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { miniServer } from '../../test/support/mini-server.js';

const data = [nextTokenDatum([1, 2, 3])];

/** A server that answers each wire format with a status, and the formats of the bodies it has received. */
async function setUp(answers: { protobuf: number; json: number }, wireFormat: 'auto' | WireFormat = 'auto') {
  const server = miniServer({}, { wireFormat, maxRetries: 0, maxRetryMs: 0 });
  const received: string[] = [];
  server.routes.set('forward_backward', ({ headers }) => {
    const format = headers['content-type'] === 'application/x-protobuf' ? 'protobuf' : 'json';
    received.push(format);
    const status = answers[format];
    return status === 200 ? { body: { request_id: 'forward' } } : { status, body: { detail: `refused ${format}` } };
  });
  const training = await server.training();
  const pass = () =>
    server.clock.runUntil(
      training.forwardBackward(data, 'cross_entropy').then(
        () => 'done',
        (error: unknown) => error,
      ),
    );
  return { answers, received, pass, server };
}

describe('the wire format of forward/backward bodies', () => {
  it('is protobuf once protobuf was accepted: later refusals concern the data', async () => {
    const { answers, received, pass } = await setUp({ protobuf: 200, json: 200 });
    expect(await pass()).toBe('done');
    answers.protobuf = 422;
    expect(await pass()).toBeInstanceOf(UnprocessableEntityError);
    expect(received).toEqual(['protobuf', 'protobuf']);
  });

  it.each([400, 415, 422])('falls back to JSON once after %i and stays there', async (status) => {
    const { received, pass, server } = await setUp({ protobuf: status, json: 200 });
    expect(await pass()).toBe('done');
    expect(await pass()).toBe('done');
    expect(received).toEqual(['protobuf', 'json', 'json']);
    expect(server.submittedSeqIds()).toEqual([1, 1, 2]);
  });

  it('stays open when both are refused, and the first refusal surfaces', async () => {
    const { answers, received, pass } = await setUp({ protobuf: 400, json: 415 });
    const failure = (await pass()) as Error;
    expect(failure).toBeInstanceOf(BadRequestError);
    expect(failure.message).toContain('refused protobuf');
    expect(failure.message).toContain('status 415');
    answers.protobuf = 200;
    expect(await pass()).toBe('done');
    expect(received).toEqual(['protobuf', 'json', 'protobuf']);
  });

  it('surfaces the refusal of JSON by a server that is known to accept JSON', async () => {
    const { answers, pass } = await setUp({ protobuf: 415, json: 200 });
    expect(await pass()).toBe('done');
    answers.json = 422;
    expect(((await pass()) as Error).message).toContain('refused json');
  });

  it.each([401, 403, 404, 413, 500, 503])('does not take %i for a refusal of the format', async (status) => {
    const { received, pass } = await setUp({ protobuf: status, json: 200 });
    expect(await pass()).toMatchObject({ status });
    expect(received).toEqual(['protobuf']);
  });

  it.each(['protobuf', 'json'] as const)('is %s from the start when the option says so', async (format) => {
    const { received, pass } = await setUp({ protobuf: 422, json: 422 }, format);
    expect(await pass()).toMatchObject({ status: 422 });
    expect(received).toEqual([format]);
  });
});
