import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startServer } from '../src/index.js';
import { brokenRules } from './fixture.js';

/** Reads one piece of an endless body. */
async function firstPiece(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  return new TextDecoder().decode(value);
}

describe('requests beside the API', () => {
  it('go to your handler with method, address, headers and body', async () => {
    const otherRequests = async (request: Request) =>
      Response.json({ method: request.method, url: request.url, header: request.headers.get('x-one'), text: await request.text() });
    await using server = await startServer({ engine: 'canned', otherRequests });
    const sent = await fetch(`${server.url}/page?a=1`, { method: 'POST', headers: { 'x-one': '1' }, body: 'hello' });
    expect(await sent.json()).toEqual({ method: 'POST', url: `${server.url}/page?a=1`, header: '1', text: 'hello' });
    expect(await (await fetch(server.url)).json()).toMatchObject({ method: 'GET', url: `${server.url}/`, text: '' });
    expect(server.calls).toEqual([]);
    server.verify();
  });

  it.each(['/api', '/api/v1/no_such_route', '/base/api/v1/no_such_route', '/base/page', '/__testkit/scripts', '/signed/nothing'])(
    'never are those to %s: what is unknown there breaks a rule',
    async (path) => {
      const otherRequests = (): Response => new Response('yes');
      await using server = await startServer({ engine: 'canned', basePath: '/base', otherRequests });
      const { origin } = new URL(server.url);
      expect((await fetch(origin + path)).status).toBeGreaterThanOrEqual(400);
      expect(await (await fetch(`${origin}/page`)).text()).toBe('yes');
      expect((await fetch(`${server.url}/api/v1/healthz`)).status).toBe(200);
      if (!path.startsWith('/signed')) expect(brokenRules(server)).toEqual(['route-unknown']);
    },
  );

  it.each(['/other', '//api/v1/healthz', '/API/v1/healthz'])('break a rule if your handler leaves them: %s', async (path) => {
    await using server = await startServer({ engine: 'canned', otherRequests: () => undefined });
    expect((await fetch(server.url + path)).status).toBe(404);
    expect(brokenRules(server)).toEqual(['route-unknown']);
  });

  it('break a rule without a handler', async () => {
    await using server = await startServer({ engine: 'canned' });
    expect((await fetch(server.url)).status).toBe(404);
    expect(brokenRules(server)).toEqual(['route-unknown']);
  });

  it('stream their answers, until the reader or the server goes away', async () => {
    const signals: AbortSignal[] = [];
    const server = await startServer({
      engine: 'canned',
      otherRequests: ({ signal }) => {
        signals.push(signal);
        const start = (controller: ReadableStreamDefaultController<Uint8Array>): void =>
          controller.enqueue(new TextEncoder().encode('data: 1\n\n'));
        return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    const aborted = (signal: AbortSignal | undefined): Promise<void> =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    const hangUp = new AbortController();
    expect(await firstPiece(await fetch(server.url, { signal: hangUp.signal }))).toBe('data: 1\n\n');
    const leaves = aborted(signals[0]);
    hangUp.abort();
    await leaves;
    const response = await fetch(server.url);
    const ends = aborted(signals[1]);
    await server.close();
    await ends;
    await expect(response.text()).rejects.toThrow(TypeError);
  });

  it.each([
    ['throws', (): Response => fail()],
    ['rejects', async (): Promise<Response> => fail()],
  ])('get 500 when the handler %s, and verify() says why', async (_how, otherRequests) => {
    await using server = await startServer({ engine: 'canned', otherRequests });
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('broken page')]);
    expect(() => server.verify()).toThrow(/broken page/);
  });

  it('are refused under another host name', async () => {
    await using server = await startServer({ engine: 'canned', otherRequests: () => new Response('yes') });
    const status = await new Promise((resolve, reject) => {
      const sent = httpRequest(server.url, { headers: { host: 'evil.example' } }, (response) => resolve(response.resume().statusCode));
      sent.on('error', reject).end();
    });
    expect(status).toBe(421);
  });
});

function fail(): never {
  throw new Error('broken page');
}
