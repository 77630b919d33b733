import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Transport } from '../src/transport/transport.js';
import { failure } from './support/failure.js';

const REQUEST = { method: 'GET', url: 'http://service.test/x', headers: {}, pool: 'p' };

describe('a runtime without undici', () => {
  let http: typeof import('../src/index.js');

  beforeAll(async () => {
    vi.resetModules();
    vi.doMock('../src/transport/load-undici.js', () => ({ loadUndici: async () => undefined }));
    http = await import('../src/index.js');
  });

  afterAll(() => {
    vi.doUnmock('../src/transport/load-undici.js');
    vi.resetModules();
  });

  it('sends through the fallback, which is created once and closed with the transport', async () => {
    const close = vi.fn(async () => undefined);
    const send = vi.fn<Transport['send']>(() => Promise.reject(new Error('sent')));
    const fallback = vi.fn((): Transport => ({ send, close }));
    const transport = new http.UndiciTransport({ fallback });
    expect(fallback).not.toHaveBeenCalled();
    await Promise.allSettled([transport.send(REQUEST), transport.send(REQUEST)]);
    await Promise.allSettled([transport.send(REQUEST)]);
    expect([fallback, send].map(({ mock }) => mock.calls.length)).toEqual([1, 3]);
    await transport.close();
    expect(close).toHaveBeenCalledOnce();
    expect(await failure(transport.send(REQUEST))).toMatchObject({ message: 'The transport is closed.' });
  });

  it('says what to use instead, without a fallback', async () => {
    await using transport = new http.UndiciTransport();
    const error = await failure(transport.send(REQUEST));
    expect(error).toMatchObject({ name: 'ConfigurationError', option: 'transport', message: expect.stringContaining('FetchTransport') });
  });

  it('uses fetch by default', async () => {
    const fetch = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('{}'));
    const transport = http.defaultTransport();
    const response = await transport.send(REQUEST);
    await transport.close();
    expect([response.status, fetch.mock.calls.length]).toEqual([200, 1]);
    fetch.mockRestore();
  });
});
