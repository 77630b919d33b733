import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startServer } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { sources } from './program-files.js';
import { type Ended, type RunOptions, runForHastyReader, runProgram, temporaryOutput, usagesOf } from './run-program.js';

const HOSTED = 'https://tinker.thinkingmachines.dev/services/tinker-prod';
const examples = readdirSync(sources)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length));

/** One message, no stack trace, exit code 1. */
function expectOneMessage(ended: Ended | undefined, message: RegExp): void {
  expect(ended?.code).toBe(1);
  expect(ended?.stderr).toMatch(message);
  expect(ended?.stderr.match(/Failed/g)).toHaveLength(1);
  expect(ended?.stderr).not.toMatch(/^\s+at /m);
}

/** A web server that answers everything with a page, or knows no POST. */
async function startWebsite({ knowsPost = true } = {}): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(({ method }, response) => {
    response.statusCode = method === 'POST' && !knowsPost ? 501 : 200;
    response.setHeader('content-type', 'text/html').end(`<!doctype html>\n<title>Welcome</title>\n${'<p>Text</p>\n'.repeat(200)}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Runs an example several times, beside each other. */
async function runs(turns: readonly (RunOptions & { readonly name: string })[]): Promise<Ended[]> {
  return Promise.all(turns.map(({ name, ...options }) => runProgram(name, options)));
}

describe('an example that cannot run says why, once', () => {
  it('without a key for the hosted service', async () => {
    const ended = await runProgram('quickstart', { env: { TINKER_BASE_URL: HOSTED } });
    expectOneMessage(ended, /TINKEX_CONFIGURATION.*TINKER_API_KEY/);
    expect(ended.stdout).toBe('');
  });

  it('when nothing listens at the address', async () => {
    const server = await startServer();
    await server.close();
    const [first, second] = await runs([
      { name: 'concurrent-sampling', env: { TINKER_BASE_URL: server.url, TINKER_API_KEY: server.apiKey } },
      { name: 'multi-tenant', env: { TINKEX_SECOND_BASE_URL: server.url } },
    ]);
    expectOneMessage(first, /TINKEX_CONNECTION[\s\S]*Is the server running/);
    expectOneMessage(second, /TINKEX_CONNECTION[\s\S]*Is the server running/);
  });

  it('when something else answers at the address', async () => {
    await using website = await startWebsite();
    const [target, http] = await runs([
      { name: 'math-rl', env: { TINKER_BASE_URL: website.url } },
      { name: 'http-layer', env: { TINKER_BASE_URL: website.url } },
    ]);
    expectOneMessage(target, /TINKEX_VALIDATION[\s\S]*Is TINKER_BASE_URL the address of a Tinker server/);
    expectOneMessage(http, /TINKEX_VALIDATION[\s\S]*Is TINKER_BASE_URL the address of a Tinker server/);
  });

  it('when something else answers that it cannot do this, soon and without showing its page', async () => {
    await using website = await startWebsite({ knowsPost: false });
    const ended = await runProgram('math-rl', { env: { TINKER_BASE_URL: website.url, TINKEX_BASE_MODEL: 'some/model' } });
    expectOneMessage(ended, /501[\s\S]*Is TINKER_BASE_URL the address of a Tinker server/);
    expect(ended.stderr.trim().split('\n')).toHaveLength(2);
    expect(ended.stderr.length).toBeLessThan(600);
  });

  it('when the command line is wrong, with the usage and exit code 2', async () => {
    const [unknown, notCounted, tooFew, noLoss] = await runs([
      { name: 'types-layer', args: ['--colour'] },
      { name: 'concurrent-sampling', args: ['--prompts', 'many'] },
      { name: 'chat-sl', args: ['--save-every', '0'] },
      { name: 'math-rl', args: ['--loss', 'dpo'] },
    ]);
    for (const ended of [unknown, notCounted, tooFew, noLoss]) {
      expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('\n\nUsage: npm start -- ') });
    }
    expect(unknown?.stderr).toMatch(/^Unknown option '--colour'/);
    expect(notCounted?.stderr).toMatch(/^--prompts must be a whole number of at least 1, got many\./);
    expect(tooFew?.stderr).toMatch(/^--save-every must be a whole number of at least 1, got 0\./);
    expect(noLoss?.stderr).toMatch(/^--loss must be one of importance_sampling, ppo, cispo, got dpo\./);
  });

  it('when a credential or an address cannot be one, without showing it', async () => {
    const [badKey, badUrl] = await runs([
      { name: 'math-rl', env: { TINKER_API_KEY: 'hunter2' } },
      { name: 'checkpoints', env: { TINKER_BASE_URL: 'nonsense' } },
    ]);
    expectOneMessage(badKey, /TINKEX_CONFIGURATION.*must start with tml-/);
    expect(badKey?.stderr).not.toContain('hunter2');
    expectOneMessage(badUrl, /TINKEX_CONFIGURATION.*absolute URL/);
  });

  it('when the server does not know the key, the model or the path', async () => {
    await using server = await startServer({ apiKeys: ['tml-right'] });
    const env = { TINKER_BASE_URL: server.url, TINKER_API_KEY: 'tml-right' };
    const [noKey, wrongKey, wrongModel, wrongPath] = await runs([
      { name: 'http-layer', env: { TINKER_BASE_URL: server.url } },
      { name: 'telemetry', env: { ...env, TINKER_API_KEY: 'tml-wrong' } },
      { name: 'quickstart', env: { ...env, TINKEX_BASE_MODEL: 'no/such-model' } },
      { name: 'custom-loss', env: { ...env, TINKER_BASE_URL: `${server.url}/elsewhere` } },
    ]);
    expectOneMessage(noKey, /TINKEX_AUTHENTICATION[\s\S]*Set TINKER_API_KEY/);
    expectOneMessage(wrongKey, /TINKEX_AUTHENTICATION[\s\S]*Check TINKER_API_KEY/);
    expectOneMessage(wrongModel, /no\/such-model is not supported; choose one of tinkex\/tiny/);
    expectOneMessage(wrongPath, /TINKEX_NOT_FOUND[\s\S]*Check TINKER_BASE_URL/);
  });

  it('when the data file is wrong or missing', async () => {
    await using out = await temporaryOutput();
    const good = '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}';
    const write = async (name: string, second: string): Promise<string> => {
      await writeFile(join(out.path, name), `${good}\n${second}\n`);
      return join(out.path, name);
    };
    await writeFile(join(out.path, 'too-short.jsonl'), `${good}\n`);
    const [noJson, noMessages, tooShort, noFile] = await runs([
      { name: 'chat-sl', args: ['--data', await write('no-json.jsonl', '{oops')] },
      { name: 'chat-sl', args: ['--data', await write('no-messages.jsonl', '{"messages": "oops"}')] },
      { name: 'chat-sl', args: ['--data', join(out.path, 'too-short.jsonl')] },
      { name: 'chat-sl', args: ['--data', 'no-such-file.jsonl'] },
    ]);
    expectOneMessage(noJson, /1 record is not a conversation\. Nothing was trained.*no-json\.jsonl:2: .*JSON/);
    expectOneMessage(noMessages, /no-messages\.jsonl:2: messages must be a list/);
    expectOneMessage(tooShort, /1 conversation is fewer than a batch\. Choose a smaller --batch-size\./);
    expectOneMessage(noFile, /no-such-file\.jsonl cannot be read: .*no such file/);
  });
});

it('conversations may begin with a system message', async () => {
  await using out = await temporaryOutput();
  const file = join(out.path, 'with-system.jsonl');
  const line =
    '{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}';
  await writeFile(file, `${line}\n${line}\n`);
  const { code, stdout } = await runProgram('chat-sl', { out: out.path, args: ['--data', file, '--epochs', '2', '--batch-size', '1'] });
  expect(stdout).toContain('Conversations: 2 for training, 0 for evaluation; steps: 4');
  expect(code).toBe(0);
});

it('an example whose reader leaves ends silently', async () => {
  for (const name of ['quickstart', 'concurrent-sampling']) expect(await runForHastyReader(name)).toMatchObject({ code: 0, stderr: '' });
});

it('every example explains itself with --help', async () => {
  expect(examples.length).toBeGreaterThanOrEqual(11);
  const usages = await usagesOf(examples);
  for (const name of examples) {
    expect(usages[name]).toMatch(new RegExp(`^Usage: npm start -- ${name} \\[options\\]\n\n[A-Z][^]*?\\.\n`));
    expect(usages[name]?.includes('TINKER_API_KEY')).toBe(name !== 'types-layer'); // which needs no server
  }
});
