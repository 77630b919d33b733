import type { VirtualClock } from '@tinkex/testkit';
import { BadRequestError, nextTokenDatum, UnprocessableEntityError, type WireFormat } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { miniServer } from '../../test/support/mini-server.js';
import type { ServiceClientOptions } from '../index.js';

const data = [nextTokenDatum([1, 2, 3])];

/** A server that answers each wire format with a status, and the formats of the bodies it has received. */
async function setUp(
  answers: { protobuf: number; json: number },
  wireFormat: WireFormat | 'auto' = 'auto',
  options: Partial<ServiceClientOptions> = { maxRetries: 0, maxRetryMs: 0 },
  clock?: VirtualClock,
) {
  const server = miniServer({}, { wireFormat, ...options }, clock);
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

  it.each([400, 415, 422, 500])('falls back to JSON once after %i and stays there', async (status) => {
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
    expect(failure.message).toContain("set wireFormat: 'protobuf' or 'json'");
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

  it.each([401, 403, 404, 413, 503])('does not take %i for a refusal of the format', async (status) => {
    const { received, pass } = await setUp({ protobuf: status, json: 200 });
    expect(await pass()).toMatchObject({ status });
    expect(received).toEqual(['protobuf']);
  });

  it('tries JSON after the first 500 instead of repeating protobuf for minutes, whatever the retries', async () => {
    const { received, pass, server } = await setUp({ protobuf: 500, json: 200 }, 'auto', {});
    const begunAtMs = server.clock.elapsedMs;
    expect(await pass()).toBe('done');
    expect(received).toEqual(['protobuf', 'json']);
    expect(server.clock.elapsedMs).toBe(begunAtMs);
  });

  it('stays with protobuf after a passing 500 of a server that does not take JSON', async () => {
    const { answers, received, pass } = await setUp({ protobuf: 500, json: 415 }, 'auto', {});
    const json = () => {
      answers.protobuf = 200;
      return 415;
    };
    Object.defineProperty(answers, 'json', { get: json });
    expect(await pass()).toBe('done');
    expect(received).toEqual(['protobuf', 'json', 'protobuf']);
  });

  it('offers both again after each pause while the server fails on both', async () => {
    const { answers, received, pass } = await setUp({ protobuf: 500, json: 500 }, 'auto', { maxRetryMs: 3_000 });
    expect(await pass()).toMatchObject({ status: 500, message: expect.stringContaining('wireFormat') });
    expect(received).toEqual(Array.from({ length: 3 }, () => ['protobuf', 'json']).flat());
    answers.json = 200;
    expect(await pass()).toBe('done');
  });

  it('shows the reason of a refusal rather than the failure on the other format', async () => {
    const { received, pass } = await setUp({ protobuf: 500, json: 422 }, 'auto', {});
    expect(await pass()).toMatchObject({ status: 422, message: expect.stringContaining('refused json') });
    expect(received).toEqual(['protobuf', 'json']);
  });

  it('is tried first by the next client of the same base URL, and given up if that server has changed', async () => {
    const first = await setUp({ protobuf: 500, json: 200 });
    expect(await first.pass()).toBe('done');
    const { clock } = first.server;
    const second = await setUp({ protobuf: 500, json: 200 }, 'auto', { clock, baseUrl: 'HTTP://server.test:80/' }, clock);
    expect(await second.pass()).toBe('done');
    expect(second.received).toEqual(['json']);
    const elsewhere = await setUp({ protobuf: 200, json: 200 }, 'auto', { clock, baseUrl: 'http://other.test' }, clock);
    expect(await elsewhere.pass()).toBe('done');
    expect(elsewhere.received).toEqual(['protobuf']);
    const changed = await setUp({ protobuf: 200, json: 415 }, 'auto', { clock }, clock);
    expect(await changed.pass()).toBe('done');
    expect(await changed.pass()).toBe('done');
    expect(changed.received).toEqual(['json', 'protobuf', 'protobuf']);
  });

  it.each(['protobuf', 'json'] as const)('is %s from the start when the option says so', async (format) => {
    const { received, pass } = await setUp({ protobuf: 422, json: 422 }, format);
    expect(await pass()).toMatchObject({ status: 422 });
    expect(received).toEqual([format]);
  });
});
