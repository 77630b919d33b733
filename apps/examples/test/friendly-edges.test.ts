import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { type Ended, runInTurn, runProgram, temporaryOutput } from './run-program.js';

const HOSTED = 'https://tinker.thinkingmachines.dev/services/tinker-prod';
const examples = readdirSync(fileURLToPath(new URL('../src', import.meta.url)))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length));

/** One message, no stack trace, exit code 1. */
function expectOneMessage(ended: Ended | undefined, message: RegExp): void {
  expect(ended?.code).toBe(1);
  expect(ended?.stderr).toMatch(message);
  expect(ended?.stderr.match(/Failed/g)).toHaveLength(1);
  expect(ended?.stderr).not.toMatch(/^\s+at /m);
}

describe('an example that cannot run says why, once', () => {
  it('without a key for the hosted service', async () => {
    const ended = await runProgram('quickstart', { env: { TINKER_BASE_URL: HOSTED } });
    expectOneMessage(ended, /TINKEX_CONFIGURATION.*TINKER_API_KEY/);
    expect(ended.stdout).toBe('');
  });

  it('when nothing listens at the address', async () => {
    const server = await startServer();
    const env = { TINKER_BASE_URL: server.url, TINKER_API_KEY: server.apiKey };
    await server.close();
    expectOneMessage(await runProgram('concurrent-sampling', { env }), /TINKEX_CONNECTION[\s\S]*Is the server running/);
  });

  it('when an option is unknown, with the usage and exit code 2', async () => {
    const { code, stderr } = await runProgram('types-layer', { args: ['--colour'] });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Unknown option '--colour'/);
    expect(stderr).toContain('Usage: npm start -- types-layer');
  });

  it('when a credential or an address cannot be one, without showing it', async () => {
    const [badKey, badUrl] = await runInTurn([
      { name: 'rl', env: { TINKER_API_KEY: 'hunter2' } },
      { name: 'checkpoints', env: { TINKER_BASE_URL: 'nonsense' } },
    ]);
    expectOneMessage(badKey, /TINKEX_CONFIGURATION.*must start with tml-/);
    expect(badKey?.stderr).not.toContain('hunter2');
    expectOneMessage(badUrl, /TINKEX_CONFIGURATION.*absolute URL/);
  });

  it('when the server does not know the key, the model or the path', async () => {
    await using server = await startServer({ apiKeys: ['tml-right'] });
    const env = { TINKER_BASE_URL: server.url, TINKER_API_KEY: 'tml-right' };
    const [wrongKey, wrongModel, wrongPath] = await runInTurn([
      { name: 'telemetry', env: { ...env, TINKER_API_KEY: 'tml-wrong' } },
      { name: 'quickstart', env: { ...env, TINKEX_BASE_MODEL: 'no/such-model' } },
      { name: 'custom-loss', env: { ...env, TINKER_BASE_URL: `${server.url}/elsewhere` } },
    ]);
    expectOneMessage(wrongKey, /TINKEX_AUTHENTICATION[\s\S]*Check TINKER_API_KEY/);
    expectOneMessage(wrongModel, /no\/such-model is not supported; choose one of tinkex\/tiny/);
    expectOneMessage(wrongPath, /TINKEX_NOT_FOUND[\s\S]*Check TINKER_BASE_URL/);
  });

  it('when an option that counts something is no number', async () => {
    const [prompts, iterations] = await runInTurn([
      { name: 'concurrent-sampling', args: ['--prompts', 'many'] },
      { name: 'rl', args: ['--iterations', '0'] },
    ]);
    expectOneMessage(prompts, /--prompts must be a whole number from 1 up, got many/);
    expectOneMessage(iterations, /--iterations must be a whole number from 1 up, got 0/);
  });

  it('when the data file is wrong or missing', async () => {
    await using out = await temporaryOutput();
    const good = '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}';
    const write = async (name: string, second: string): Promise<string> => {
      await writeFile(join(out.path, name), `${good}\n${second}\n`);
      return join(out.path, name);
    };
    const [noJson, noMessages, noAnswer, noFile] = await runInTurn([
      { name: 'supervised', args: ['--data', await write('no-json.jsonl', '{oops')] },
      { name: 'supervised', args: ['--data', await write('no-messages.jsonl', '{"messages": "oops"}')] },
      { name: 'supervised', args: ['--data', await write('no-answer.jsonl', '{"messages": [{"role": "user", "content": "Hi"}]}')] },
      { name: 'supervised', args: ['--data', 'no-such-file.jsonl'] },
    ]);
    expectOneMessage(noJson, /no-json\.jsonl:2: this line is not JSON/);
    expectOneMessage(noMessages, /no-messages\.jsonl:2: expected \{"messages"/);
    expectOneMessage(noAnswer, /no-answer\.jsonl:2: expected .* with an answer by the assistant/);
    expectOneMessage(noFile, /no-such-file\.jsonl cannot be read: there is no such file/);
  });
});

it('every example explains itself with --help', async () => {
  expect(examples.length).toBeGreaterThanOrEqual(11);
  const ends = await runInTurn(examples.map((name) => ({ name, args: ['--help'] })));
  for (const [index, name] of examples.entries()) {
    expect(ends[index]).toMatchObject({ code: 0, stderr: '' });
    expect(ends[index]?.stdout).toMatch(new RegExp(`^Usage: npm start -- ${name} \\[options\\]\n\n[A-Z].*\\.\n`));
    expect(ends[index]?.stdout).toContain('TINKER_API_KEY');
  }
});
