import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { attachInspector, createInspector, inspectFolder } from '../src/index.js';
import { temporaryFolder } from './harness/temporary-folder.js';
import { startTraining } from './harness/training.js';

const quiet = { log: () => undefined };
const RUNS = new URL('runs/', import.meta.url).pathname;

/** `fetch` sets its own Host header; this does not. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('whom the inspector answers', () => {
  it('refuses every path without the token', async () => {
    await using inspector = await inspectFolder(RUNS, quiet);
    const { origin, pathname } = new URL(inspector.url);
    expect(pathname).toMatch(/^\/[\w-]{24}\/$/);
    for (const path of ['/', '/api/stream', '/assets/page.js', '/x/', `/${'A'.repeat(24)}/api/stream`, '/../etc/passwd']) {
      expect([path, (await fetch(origin + path)).status]).toEqual([path, 403]);
    }
    expect((await fetch(inspector.url)).status).toBe(200);
    expect((await fetch(inspector.url.slice(0, -1))).url).toBe(inspector.url);
  });

  it.each([
    ['another host name', { host: 'evil.example' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['a page on another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['code of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
    ['a picture on another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
  ])('refuses %s, even with the token', async (_who, headers) => {
    await using inspector = await inspectFolder(RUNS, quiet);
    expect(await statusOf(`${inspector.url}api/stream`, headers)).toBe(403);
  });

  it('opens for a user who clicks the link', async () => {
    await using inspector = await inspectFolder(RUNS, quiet);
    expect(await statusOf(inspector.url, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(200);
  });

  it('allows nothing but its own files, in no frame, without inline code', async () => {
    await using inspector = await inspectFolder(RUNS, quiet);
    for (const path of ['', 'api/runs/none/detail', 'nothing']) {
      const { headers } = await fetch(inspector.url + path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    const html = await (await fetch(inspector.url)).text();
    expect(html).not.toMatch(/https?:\/\//);
  });

  it('takes your token, or none where something else protects it', async () => {
    const own = createInspector({ token: 'my-own-token' });
    expect(own.path).toBe('/my-own-token/');
    expect((await own.handle(new Request('http://localhost/my-own-token/api/stream', { method: 'HEAD' }))).status).toBe(200);
    own.close();
    const open = createInspector({ token: false });
    expect(open.path).toBe('/');
    expect((await open.handle(new Request('http://localhost/api/runs/x/detail'))).status).toBe(404);
    expect((await open.handle(new Request('http://elsewhere.example/api/runs/x/detail'))).status).toBe(403);
    expect(() => createInspector({ token: 'a/b' })).toThrow(/token/);
  });

  it('changes nothing for a form of another kind, and refuses other methods', async () => {
    const inspector = createInspector({ token: false, chat: async () => [{ text: 'never' }] });
    const post = (headers: Record<string, string>, body = '{}') =>
      inspector.handle(new Request('http://localhost/api/chat', { method: 'POST', headers, body }));
    expect((await post({ 'content-type': 'text/plain' }, '{"model":"m","prompt":"p"}')).status).toBe(400);
    expect((await post({ 'content-type': 'application/json' }, '{"model":"m"}')).status).toBe(400);
    expect((await post({ 'content-type': 'application/json' }, '{"model":"m","prompt":"p"}')).status).toBe(200);
    expect((await inspector.handle(new Request('http://localhost/api/stream', { method: 'DELETE' }))).status).toBe(405);
  });
});

describe('what the inspector gives away', () => {
  it('no key, and no text or token unless you ask for it', async () => {
    using folder = temporaryFolder();
    await using program = await startTraining();
    const secret = program.server.apiKey;
    await using inspector = await attachInspector({ ...quiet, recordTo: folder.path });
    const output = await program.train(3);
    inspector.addExamples(program.data, { tokenizer: program.tokenizer, output });
    const { path } = await program.training.saveWeightsForSampler('final');
    const served: string[] = [];
    for (const name of ['detail', 'timeline', 'protocol', 'examples', 'metrics.csv', 'trace.json']) {
      served.push(await (await fetch(`${inspector.url}api/runs/live/${name}`)).text());
    }
    served.push(await (await fetch(`${inspector.url}report.html`)).text());
    const all = served.join('\n');
    expect(all).toContain(path);
    expect(all).not.toContain(secret);
    expect(all).not.toContain('quick brown fox');
    expect(JSON.parse(served[3] ?? '')).toEqual([]);
  });

  it('removes a key from the error of a callback', async () => {
    const chat = async () => {
      throw new Error('refused: key tml-abcdefghijklmnop is wrong');
    };
    const inspector = createInspector({ token: false, chat });
    const body = JSON.stringify({ model: 'm', prompt: 'p' });
    const request = new Request('http://localhost/api/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const response = await inspector.handle(request);
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain('tml-abcdefghijklmnop');
  });
});
