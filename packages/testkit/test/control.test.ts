import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTestServer, type TestServer, VirtualClock } from '../src/index.js';

const TOKEN = 'a-token-of-a-test-run';

function controlled(options: Parameters<typeof createTestServer>[0] = {}): TestServer {
  return createTestServer({ engine: 'canned', control: { token: TOKEN }, ...options });
}

/** One request to the control API. */
async function control(server: TestServer, method: string, path: string, body?: unknown, scope?: string) {
  const response = await server.handle(
    new Request(`${server.url}/__testkit${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...(scope === undefined ? {} : { 'x-testkit-scope': scope }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of any shape
  return { status: response.status, json: (await response.json()) as any };
}

function call(server: TestServer, path: string, { key = server.apiKey, scope }: { key?: string; scope?: string } = {}): Promise<Response> {
  const headers = { 'x-api-key': key, ...(scope === undefined ? {} : { 'x-testkit-scope': scope }) };
  return server.handle(new Request(`${server.url}/api/v1/${path}`, { headers }));
}

describe('the control API', () => {
  it('scripts replies, in the names of the wire', async () => {
    const server = controlled();
    const models = { supported_models: [{ model_name: 'a/b' }] };
    await control(server, 'POST', '/scripts', { route: 'getServerCapabilities', reply: { status: 429, retryAfterMs: 7 }, times: 1 });
    await control(server, 'POST', '/scripts', { route: 'getServerCapabilities', reply: { status: 200, body: models } });
    const limited = await call(server, 'get_server_capabilities');
    expect([limited.status, limited.headers.get('retry-after-ms')]).toEqual([429, '7']);
    expect(await (await call(server, 'get_server_capabilities')).json()).toEqual(models);
    expect((await control(server, 'GET', '/verify')).json).toEqual({ problems: [] });
  });

  it('scripts results, failures, faults and pauses', async () => {
    const server = controlled();
    expect((await control(server, 'POST', '/scripts', { route: 'optimStep', result: { metrics: { lr: 1 } } })).status).toBe(200);
    expect((await control(server, 'POST', '/scripts', { route: 'asample', fail: { error: 'no', category: 'user' } })).status).toBe(200);
    await control(server, 'POST', '/scripts', { route: 'healthz', fault: { kind: 'reset' }, times: 1 });
    await expect(call(server, 'healthz')).rejects.toThrow('fetch failed');
    expect((await call(server, 'healthz')).status).toBe(200);
  });

  it('shows the journal, filtered, with bodies in the names of the wire', async () => {
    const server = controlled({ strict: true });
    await call(server, 'healthz');
    await call(server, 'nowhere');
    await server.handle(
      new Request(`${server.url}/api/v1/create_session`, {
        method: 'POST',
        headers: { 'x-api-key': server.apiKey, 'content-type': 'application/json', 'x-idempotency-key': 'k' },
        body: JSON.stringify({ tags: ['t'], user_metadata: {}, sdk_version: '0.36.0' }),
      }),
    );
    const { calls } = (await control(server, 'GET', '/calls?route=createSession&status=200')).json;
    expect(calls).toMatchObject([{ index: 2, route: 'createSession', request: { tags: ['t'], sdk_version: '0.36.0' }, tenant: 'test' }]);
    expect((await control(server, 'GET', '/calls?since=1&limit=1')).json.calls).toHaveLength(1);
    expect((await control(server, 'GET', '/verify')).json.problems).toEqual([expect.stringContaining('[route-unknown]')]);
    await control(server, 'POST', '/reset', {});
    expect((await control(server, 'GET', '/verify')).json.problems).toEqual([]);
    expect(JSON.stringify(calls)).not.toContain(server.apiKey);
  });

  it('starts chaos, checks expectations and moves a virtual clock', async () => {
    const server = controlled({ clock: new VirtualClock() });
    await control(server, 'POST', '/chaos', { seed: 1, rate: 1, kinds: ['status-503'], maxFaultsPerOperation: 1 });
    expect((await call(server, 'healthz')).status).toBe(503);
    await control(server, 'POST', '/expectations', { route: 'healthz', atMost: 0 });
    expect((await control(server, 'GET', '/verify')).json.problems).toEqual(['healthz was called 1 times, expected 0']);
    const before = (await control(server, 'GET', '/clock')).json.nowMs;
    expect((await control(server, 'POST', '/clock', { advanceMs: 5_000 })).json.nowMs).toBe(before + 5_000);
  });

  it.each([
    ['POST', '/scripts', { route: 'asampel', reply: { status: 500 } }, 400, 'did you mean "asample"'],
    ['POST', '/scripts', { route: 'asample', reply: { status: 42 } }, 400, 'from 200 to 599'],
    ['POST', '/scripts', { route: 'asample', fault: { kind: 'reste' } }, 400, 'did you mean reset'],
    ['POST', '/scripts', { route: 'asample' }, 400, 'exactly one of'],
    ['POST', '/scripts', { route: 'asample', reply: { status: 500 }, tims: 1 }, 400, 'no field tims'],
    ['POST', '/scripts', { route: 'healthz', result: {} }, 400, 'not a route with a result'],
    ['POST', '/chaos', { seed: 1, kinds: ['status-999'] }, 400, 'did you mean'],
    ['GET', '/calls?rout=x', undefined, 400, 'no filter rout'],
    ['POST', '/clock', { advanceMs: 1 }, 409, '--virtual-clock'],
    ['GET', '/nowhere', undefined, 404, 'POST /__testkit/scripts'],
  ] as const)('refuses %s %s %j', async (method, path, body, status, message) => {
    const answer = await control(controlled(), method, path, body);
    expect([answer.status, answer.json.detail]).toEqual([status, expect.stringContaining(message)]);
  });

  it('wants its token, and is not there without one', async () => {
    const server = controlled();
    const withoutToken = await server.handle(new Request(`${server.url}/__testkit`));
    expect([withoutToken.status, await withoutToken.text()]).toEqual([401, expect.not.stringContaining(TOKEN)]);
    expect((await control(createTestServer({ engine: 'canned' }), 'GET', '')).status).toBe(404);
    expect((await control(server, 'GET', '')).json.routes).toContain('asample');
    expect(() => createTestServer({ control: { token: 'short' } })).toThrow('at least 16 characters');
  });

  it('refuses other machines unless they are allowed', async () => {
    const request = { method: 'GET', target: '/__testkit', headers: { authorization: `Bearer ${TOKEN}` }, body: new Uint8Array(0) };
    const status = async (server: TestServer, peer: string) => (await server.answer({ ...request, peer })).status;
    expect(await status(controlled(), '192.0.2.1')).toBe(403);
    expect(await status(controlled(), '127.0.0.1')).toBe(200);
    expect(await status(controlled({ control: { token: TOKEN, allowRemote: true } }), '192.0.2.1')).toBe(200);
  });

  it('answers whatever it is sent', async () => {
    const server = controlled({ clock: new VirtualClock() });
    const runs = Number(process.env['TINKEX_FUZZ_RUNS'] ?? 300);
    const path = fc.constantFrom('', '/scripts', '/expectations', '/chaos', '/clock', '/calls', '/verify', '/reset', '/x');
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ route: fc.constantFrom('asample', 'healthz', 'x'), reply: fc.jsonValue(), times: fc.jsonValue() }, { requiredKeys: [] }),
      fc.record({ route: fc.constant('asample'), fault: fc.jsonValue(), result: fc.jsonValue() }, { requiredKeys: [] }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'POST', 'DELETE'), path, body, async (method, where, content) => {
        const { status } = await control(server, method, where, method === 'GET' ? undefined : content);
        expect([200, 400, 404]).toContain(status);
      }),
      { numRuns: runs },
    );
  });
});

describe('scopes', () => {
  it('keep scripts, chaos, expectations, calls and complaints apart', async () => {
    const server = controlled();
    const [a, b] = [server.scope('a'), server.scope('b')];
    a.on('healthz').reply(503).once();
    b.expect('healthz').never();
    b.chaos({ seed: 1, rate: 1, kinds: ['status-429'], routes: ['getServerCapabilities'] });
    expect((await call(server, 'healthz')).status).toBe(200);
    expect((await call(server, 'healthz', { key: a.apiKey })).status).toBe(503);
    expect((await call(server, 'get_server_capabilities', { scope: 'a' })).status).toBe(200);
    expect((await call(server, 'get_server_capabilities', { scope: 'b' })).status).toBe(429);
    await call(server, 'nowhere', { key: b.apiKey });
    expect([a.calls.length, b.calls.length, a.count('healthz')]).toEqual([2, 2, 1]);
    a.verify();
    expect(() => b.verify()).toThrow(/route-unknown/);
    b.reset();
    b.verify();
    server.verify();
    expect(server.calls).toHaveLength(3);
  });

  it('are what the control API means by its header', async () => {
    const server = controlled();
    await control(server, 'POST', '/scripts', { route: 'healthz', reply: { status: 500 } }, 'mine');
    expect((await call(server, 'healthz')).status).toBe(200);
    expect((await control(server, 'GET', '/verify', undefined, 'mine')).json.problems).toHaveLength(1);
    expect((await call(server, 'healthz', { key: server.scope('mine').apiKey })).status).toBe(500);
    expect((await control(server, 'GET', '/verify', undefined, 'mine')).json.problems).toEqual([]);
    expect((await control(server, 'GET', '/calls', undefined, 'mine')).json.calls).toHaveLength(1);
  });

  it('report an unmet expectation to the whole server, too', () => {
    const server = controlled();
    server.scope('a').expect('asample').once();
    expect(() => server.verify()).toThrow('asample was called 0 times, expected 1');
    expect(() => server.scope('not a name')).toThrow('letters, digits');
  });
});

describe('messages', () => {
  it('point at the line that created an unused script', () => {
    const server = createTestServer({ engine: 'canned' });
    server.on('asample').reply(500);
    expect(() => server.verify()).toThrow(/the script reply on asample was used 0 of 1 times \(created at .*control\.test\.ts:\d+:\d+\)/);
  });

  it.each([
    ['sample', 'asample'],
    ['create_model', 'createModel'],
    ['heartbeat', 'sessionHeartbeat'],
    ['optimStop', 'optimStep'],
  ])('suggest a route for %s', (written, meant) => {
    const server = createTestServer({ engine: 'canned' });
    for (const use of [() => server.on(written as never), () => server.expect(written as never), () => server.gate(written as never)]) {
      expect(use).toThrow(`did you mean "${meant}"?`);
    }
  });

  it('refuse a status that no reply can have, and a fault that does not exist', () => {
    const server = createTestServer({ engine: 'canned' });
    expect(() => server.on('asample').reply(99)).toThrow('a status from 200 to 599');
    expect(() => server.on('asample').fault('stal' as never)).toThrow('did you mean stall?');
  });
});

it('a thousand calls of ten scopes at the same time each get the script of their scope', async () => {
  const server = controlled();
  for (let scope = 0; scope < 10; scope++)
    server
      .scope(`s${scope}`)
      .on('healthz')
      .reply(500, { detail: `scope ${scope}` });
  const details = await Promise.all(
    Array.from({ length: 1_000 }, async (_, index) => {
      const response = await call(server, 'healthz', { scope: `s${index % 10}` });
      return ((await response.json()) as { detail: string }).detail;
    }),
  );
  expect(details.every((detail, index) => detail === `scope ${index % 10}`)).toBe(true);
});
