import { request as httpRequest } from 'node:http';
import { ServiceClient } from '@tinkex/clients';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from './run-command.js';
import { runHere } from './run-here.js';
import { type StartedCommand, startCommand } from './start-command.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let serve: StartedCommand;

beforeAll(async () => {
  folder = await temporaryFolder();
  serve = await startCommand(['serve', '--port', '0', '--gateway-port', '0'], folder.path, { until: /^# Runs of this project: .*\n/m });
});

afterAll(async () => {
  await serve.stop();
  await folder[Symbol.asyncDispose]();
});

const api = (): string => serve.env['TINKER_BASE_URL'] ?? '';
const page = (): string => /^# Runs of this project: (\S+)$/m.exec(serve.stdout)?.[1] ?? '';

/** `fetch` sets some headers itself; this sends them as they are. */
function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { headers }, (response) => resolve(response.resume().statusCode));
    sent.on('error', reject).end();
  });
}

it('serves the Tinker API and the OpenAI API', async () => {
  const { OPENAI_BASE_URL, OPENAI_API_KEY, TINKER_API_KEY = '' } = serve.env;
  const models = await fetch(`${OPENAI_BASE_URL}/models`, { headers: { authorization: `Bearer ${OPENAI_API_KEY}` } });
  expect(await models.json()).toMatchObject({ data: expect.arrayContaining([expect.objectContaining({ id: 'tinkex/tiny' })]) });
  const env = { HOME: folder.path, TINKER_BASE_URL: api(), TINKER_API_KEY };
  expect((await runHere(['model', 'list'], { env })).stdout).toContain('tinkex/tiny');
});

describe('the page at / of the API', () => {
  it('is under the token that the terminal printed, with its files and its live updates', async () => {
    expect(page()).toMatch(new RegExp(`^${api()}/[\\w-]{24}/$`));
    const html = await fetch(page());
    expect([html.status, html.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(html.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const files = [...(await html.text()).matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toHaveLength(3);
    for (const file of files) expect([file, (await fetch(new URL(file, page()))).status]).toEqual([file, 200]);
    expect((await fetch(page().slice(0, -1))).url).toBe(page());

    const hangUp = new AbortController();
    const stream = await fetch(`${page()}api/stream`, { signal: hangUp.signal });
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const { value } = (await stream.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^retry: 1000\ndata: \{"atMs"/);
    hangUp.abort();
  });

  it('chats with the models of the server', async () => {
    await using service = new ServiceClient({ baseUrl: api(), apiKey: serve.env['TINKER_API_KEY'] ?? '' });
    const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 4 });
    const { path: model } = await training.saveWeightsForSampler('first');
    const ask = (headers: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(`${page()}api/chat`, { method: 'POST', headers, body: JSON.stringify({ model, prompt: 'The', maxTokens: 4 }) });
    const answer = await ask({ 'content-type': 'application/json' });
    expect(await answer.json()).toMatchObject({ samples: [{ text: expect.any(String) }] });
    expect((await ask({ 'content-type': 'application/json', origin: 'http://evil.example' })).status).toBe(403);
  });

  it('says without the token what this server is, and no more', async () => {
    const token = new URL(page()).pathname.slice(1, -1);
    const welcome = await fetch(api());
    const text = await welcome.text();
    expect([welcome.status, welcome.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toMatch(/a Tinker server[\s\S]*open the address that the terminal has printed/);
    expect(text).not.toContain(token);
    expect((await fetch(`${api()}/favicon.ico`)).status).toBe(204);
    for (const path of [`/${'A'.repeat(24)}/`, `/${'A'.repeat(24)}/api/stream`, `/${token.slice(1)}x/`]) {
      expect([path, (await fetch(api() + path)).status]).toEqual([path, 403]);
    }
    for (const path of ['/api/stream', '/assets/page.js', '/report.html', `//${token}/`, '/x/'])
      expect([path, (await fetch(api() + path)).status]).toEqual([path, 404]);
  });

  it.each([
    ['another host name', { host: 'evil.example' }, 421],
    ['another host name that ends like a local one', { host: 'evil.localhost' }, 403],
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['code of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, 403],
  ])('refuses %s, even with the token', async (_who, headers, status) => {
    expect(await statusOf(`${page()}api/stream`, headers)).toBe(status);
  });

  it('lets an unknown route of the API break a rule, and nothing that a browser asks for', async () => {
    const broken = async (): Promise<readonly string[]> => {
      const { brokenRules } = (await (await fetch(`${page()}api/protocol`)).json()) as { brokenRules: { detail: string }[] };
      return brokenRules.map(({ detail }) => detail);
    };
    const before = (await broken()).length;
    await fetch(api());
    await fetch(`${api()}/favicon.ico`);
    await fetch(`${page()}nothing`);
    expect((await fetch(`${api()}/api/v1/no_such_route`)).status).toBe(404);
    expect((await fetch(api(), { method: 'POST' })).status).toBe(404);
    expect((await broken()).slice(before)).toEqual(['GET /api/v1/no_such_route is not an endpoint', 'POST / is not an endpoint']);
  });
});

it('ends with Ctrl-C, even if a page watches', async () => {
  const reader = (await fetch(`${page()}api/stream`)).body?.getReader();
  await reader?.read();
  expect(await serve.stop()).toBe(130);
});

it('has no page with --no-inspector', async () => {
  const args = ['serve', '--port', '0', '--no-gateway', '--no-inspector', '--no-state'];
  await using alone = await startCommand(args, folder.path, { until: /^export TINKER_API_KEY=.*\n/m });
  const text = await (await fetch(alone.env['TINKER_BASE_URL'] ?? '')).text();
  expect(text).toContain('a Tinker server');
  expect(text).not.toContain('open the address');
});
