import { BadRequestError, ServerError, UnprocessableEntityError } from '@tinkex/types';
import { apiStatusError } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { WireDialect } from './wire-dialect.js';

const refusal = (status: number, detail = 'no') => apiStatusError({ status, headers: {}, body: { detail } });

function server(answers: { protobuf: number; json: number }) {
  const sent: string[] = [];
  const sendAs = async (encoding: 'protobuf' | 'json'): Promise<string> => {
    sent.push(encoding);
    const status = answers[encoding];
    if (status !== 200) throw refusal(status, encoding);
    return encoding;
  };
  return { sent, sendAs, answers };
}

describe('WireDialect auto', () => {
  it('settles on protobuf when it is accepted, and never sends JSON afterwards', async () => {
    const dialect = new WireDialect('auto');
    const good = server({ protobuf: 200, json: 200 });
    await dialect.send(good.sendAs);
    const bad = server({ protobuf: 422, json: 200 });
    await expect(dialect.send(bad.sendAs)).rejects.toThrow(UnprocessableEntityError);
    expect(bad.sent).toEqual(['protobuf']);
    expect(dialect.settled).toBe('protobuf');
  });

  it.each([400, 415, 422])('falls back to JSON once after %i and stays there', async (status) => {
    const dialect = new WireDialect('auto');
    const jsonOnly = server({ protobuf: status, json: 200 });
    expect(await dialect.send(jsonOnly.sendAs)).toBe('json');
    expect(await dialect.send(jsonOnly.sendAs)).toBe('json');
    expect(jsonOnly.sent).toEqual(['protobuf', 'json', 'json']);
  });

  it('shows the first refusal as itself when JSON is refused as well, and has not changed over', async () => {
    const dialect = new WireDialect('auto');
    const badData = server({ protobuf: 400, json: 415 });
    const failure = await dialect.send(badData.sendAs).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(BadRequestError);
    expect((failure as BadRequestError).message).toContain('status 415');
    expect(dialect.settled).toBeUndefined();
    expect(await dialect.send(server({ protobuf: 200, json: 200 }).sendAs)).toBe('protobuf');
  });

  it('shows the refusal of JSON by a server that is known to speak JSON', async () => {
    const dialect = new WireDialect('auto');
    await dialect.send(server({ protobuf: 415, json: 200 }).sendAs);
    await expect(dialect.send(server({ protobuf: 415, json: 422 }).sendAs)).rejects.toThrow('json');
  });

  it.each([401, 403, 404, 413, 500, 503])('does not take %i for a matter of types', async (status) => {
    const failing = server({ protobuf: status, json: 200 });
    await expect(new WireDialect('auto').send(failing.sendAs)).rejects.toMatchObject({ status });
    expect(failing.sent).toEqual(['protobuf']);
  });

  it('passes on what is no status', async () => {
    await expect(new WireDialect('auto').send(() => Promise.reject(new TypeError('bug')))).rejects.toThrow(TypeError);
    await expect(new WireDialect('json').send(server({ protobuf: 200, json: 500 }).sendAs)).rejects.toThrow(ServerError);
  });
});
