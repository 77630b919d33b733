import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fencedBlocks } from '../docs/markdown.js';
import { root } from '../packages.mjs';
import { BUILD_WORKER, LACKING_IN_WORKERS } from './bundler-rows.js';
import type { Row } from './row.js';

const EXPECTED = '200 text/event-stream, a whole answer';

/** Asks as the chat of a page does. */
const ASK = `
const parts = [{ type: 'text', text: 'Hello' }];
const body = JSON.stringify({ messages: [{ id: '1', role: 'user', parts }] });
const ask = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
async function report(response) {
  const type = response.headers.get('content-type');
  const text = await response.text();
  console.log(response.status, type + ',', text.includes('"type":"finish"') ? 'a whole answer' : text);
}`;

/** A server of the guide, beside a Tinker server that it finds by its environment. */
function askServer(file: string): string {
  return `
import { createServer } from 'node:http';
import { startServer } from '@tinkex/testkit';
${ASK}
const server = await startServer();
const probe = createServer();
await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
const { port } = probe.address();
await new Promise((resolve) => probe.close(resolve));
Object.assign(process.env, { TINKER_API_KEY: server.apiKey, TINKER_BASE_URL: server.url, CHAT_MODEL: 'tinkex/tiny', PORT: String(port) });
await import('./${file}');
await report(await fetch('http://127.0.0.1:' + port + '/api/chat', ask));
process.exit();`;
}

const RUN_WORKER = `
import { readFileSync } from 'node:fs';
import { startServer } from '@tinkex/testkit';
${ASK}
const lacking = ${JSON.stringify(LACKING_IN_WORKERS)};
const bare = Object.create(null);
for (const name of Object.getOwnPropertyNames(globalThis)) if (!lacking.includes(name)) bare[name] = globalThis[name];
const { default: worker } = new Function('globalThis', ...lacking, readFileSync('out/worker.js', 'utf8') + '; return worker;')(bare);
const server = await startServer();
const env = { TINKER_API_KEY: server.apiKey, TINKER_BASE_URL: server.url, CHAT_MODEL: 'tinkex/tiny' };
await report(await worker.fetch(new Request('http://app.example/api/chat', ask), env));
process.exit();`;

/** The files of the guide "In your web app", by the path in their first line. */
export function webAppFiles(): Record<string, string> {
  const blocks = fencedBlocks(readFileSync(join(root, 'docs/guides/web-app.md'), 'utf8'));
  return Object.fromEntries(
    blocks.flatMap(({ code }) => {
      const path = /^\/\/ (\S+\.jsx?)\n/.exec(code)?.[1];
      return path === undefined ? [] : [[path, code]];
    }),
  );
}

/**
 * The servers of the guide "In your web app", each asked by a chat. The fourth, Next.js, has a separate row.
 *
 * @param bun - The program.
 */
export function webAppRows(bun = 'bun'): Row[] {
  const files = webAppFiles();
  return [
    {
      name: 'Express with the AI SDK',
      files: { ...files, 'ask.mjs': askServer('express.js') },
      commands: [['node', 'ask.mjs']],
      expected: EXPECTED,
    },
    {
      name: 'Bun with the AI SDK',
      files: { ...files, 'ask.mjs': askServer('bun.js') },
      commands: [[bun, 'ask.mjs']],
      expected: EXPECTED,
    },
    {
      name: 'edge worker with the AI SDK',
      files: { ...files, 'build.mjs': BUILD_WORKER.replace('worker.mjs', 'worker.js'), 'run.mjs': RUN_WORKER },
      commands: [
        ['node', 'build.mjs'],
        ['node', 'run.mjs'],
      ],
      expected: EXPECTED,
    },
  ];
}
