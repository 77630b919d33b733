import { getEventListeners } from 'node:events';
import { AbortedError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { createResponse, HttpClient, jwtAuth, type Transport, UndiciTransport } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';
import { loadUndici } from '../src/transport/load-undici.js';
import { RawServer } from './support/raw-server.js';
import { turn } from './support/turn.js';

const CALLS = 20;
const PENDING = new Promise<never>(() => undefined);

/** A transport that answers with this, for every request. */
function transport(send: Transport['send']): Transport {
  return { send, close: async () => undefined };
}

/** Starts calls that share one signal, counts its listeners, aborts, and counts again. */
async function listenersOf(start: (signal: AbortSignal) => PromiseLike<unknown>): Promise<{ pending: number; after: number }> {
  const controller = new AbortController();
  const { signal } = controller;
  const calls = Array.from({ length: CALLS }, () => Promise.resolve(start(signal)));
  for (const call of calls) call.catch(() => undefined);
  await turn();
  const pending = getEventListeners(signal, 'abort').length;
  controller.abort();
  for (const call of calls) await expect(call).rejects.toBeInstanceOf(AbortedError);
  return { pending, after: getEventListeners(signal, 'abort').length };
}

describe('one signal shared by 20 calls', () => {
  const baseUrl = 'http://service.test';
  const exchange = () => PENDING;
  const clock = new VirtualClock();
  it.each([
    ['attempts', new HttpClient({ baseUrl, transport: transport(() => PENDING) })],
    ['attempts with middleware', new HttpClient({ baseUrl, transport: transport(() => PENDING), middleware: [(one, next) => next(one)] })],
    ['waits between attempts', new HttpClient({ baseUrl, clock, transport: transport(async () => createResponse({ status: 503 })) })],
    ['a credential', new HttpClient({ baseUrl, transport: transport(() => PENDING), auth: jwtAuth({ exchange }) })],
  ])('has one listener during %s, and none afterwards', async (_name, client) => {
    expect(await listenersOf((signal) => client.request({ method: 'GET', path: '/x', signal }))).toEqual({ pending: 1, after: 0 });
  });

  it('has one listener when a transport is used without a client', async () => {
    await using server = await RawServer.start(() => undefined);
    await using network = new UndiciTransport();
    // The first request would load it, which takes more than a few turns.
    await loadUndici();
    const request = { method: 'GET', url: `${server.url}/x`, headers: {}, pool: 'default' };
    expect(await listenersOf((signal) => network.send({ ...request, signal }))).toEqual({ pending: 1, after: 0 });
  });

  it('prints no warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const client = new HttpClient({ baseUrl, transport: transport(() => PENDING) });
    await listenersOf((signal) => client.request({ method: 'GET', path: '/x', signal }));
    await turn();
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
