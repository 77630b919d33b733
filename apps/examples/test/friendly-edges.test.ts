import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { type Ended, type RunOptions, runProgram, temporaryOutput } from './run-program.js';

const HOSTED = 'https://tinker.thinkingmachines.dev/services/tinker-prod';
const examples = readdirSync(fileURLToPath(new URL('../src', import.meta.url)))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length));

/** One message, no stack trace, exit code 1. */
function expectOneMessage({ code, stderr }: Ended, message: RegExp): void {
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
  expect(stderr.match(/Failed/g)).toHaveLength(1);
  expect(stderr).not.toMatch(/^\s+at /m);
}

async function fails(name: string, options: RunOptions, message: RegExp): Promise<void> {
  expectOneMessage(await runProgram(name, options), message);
}

describe('an example that cannot run says why, once', () => {
  it('without a key for the hosted service', async () => {
    await fails('quickstart', { env: { TINKER_BASE_URL: HOSTED } }, /TINKEX_CONFIGURATION.*TINKER_API_KEY/);
  });

  it('with a key that cannot be one', async () => {
    const ended = await runProgram('rl', { env: { TINKER_API_KEY: 'hunter2' } });
    expectOneMessage(ended, /TINKEX_CONFIGURATION.*must start with tml-/);
    expect(ended.stderr).not.toContain('hunter2');
  });

  it('with something that is no URL', async () => {
    await fails('checkpoints', { env: { TINKER_BASE_URL: 'nonsense' } }, /TINKEX_CONFIGURATION.*absolute URL/);
  });

  it('when nothing listens at the address', async () => {
    const server = await startServer();
    const env = { TINKER_BASE_URL: server.url, TINKER_API_KEY: server.apiKey };
    await server.close();
    await fails('concurrent-sampling', { env }, /TINKEX_CONNECTION[\s\S]*Is the server running/);
  });

  it('when the server does not know the key', async () => {
    await using server = await startServer({ apiKeys: ['tml-right'] });
    await fails(
      'telemetry',
      { env: { TINKER_BASE_URL: server.url, TINKER_API_KEY: 'tml-wrong' } },
      /TINKEX_AUTHENTICATION[\s\S]*Check TINKER_API_KEY/,
    );
  });

  it('when there is no such model', async () => {
    await using server = await startServer();
    const env = { TINKER_BASE_URL: server.url, TINKER_API_KEY: server.apiKey, TINKEX_BASE_MODEL: 'no/such-model' };
    await fails('quickstart', { env }, /no\/such-model is not supported; choose one of tinkex\/tiny/);
  });

  it('when the address is not the API', async () => {
    await using server = await startServer();
    const env = { TINKER_BASE_URL: `${server.url}/elsewhere`, TINKER_API_KEY: server.apiKey };
    await fails('custom-loss', { env }, /TINKEX_NOT_FOUND[\s\S]*Check TINKER_BASE_URL/);
  });

  it('when a line of the data file is wrong', async () => {
    await using out = await temporaryOutput();
    const data = join(out.path, 'bad.jsonl');
    await writeFile(
      data,
      '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}\n{"messages": "oops"}\n',
    );
    await fails('supervised', { out: out.path, args: ['--data', data] }, /bad\.jsonl:2: expected \{"messages"/);
  });

  it('when there is no data file', async () => {
    await fails('supervised', { args: ['--data', 'no-such-file.jsonl'] }, /no-such-file\.jsonl cannot be read: there is no such file/);
  });

  it('when an option is unknown, with the usage and exit code 2', async () => {
    const { code, stderr } = await runProgram('quickstart', { args: ['--colour'] });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Unknown option '--colour'/);
    expect(stderr).toContain('Usage: npm start -- quickstart');
  });
});

it('every example explains itself with --help', async () => {
  const { code, stdout, stderr } = await runProgram('../test/print-every-usage', { args: examples });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(examples.length).toBeGreaterThanOrEqual(11);
  for (const name of examples) {
    const usage = stdout.split(`=== ${name}\n`)[1]?.split('\n===')[0];
    expect(usage).toMatch(new RegExp(`^Usage: npm start -- ${name} \\[options\\]\n\n[A-Z].*\\.\n`));
    expect(usage).toContain('TINKER_API_KEY');
  }
});
