import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from './run-command.js';
import { runHere } from './run-here.js';
import { writeTokenizer } from './write-tokenizer.js';

const CHATS = ['Hi', 'Hello']
  .map(
    (content) =>
      `${JSON.stringify({
        messages: [
          { role: 'user', content },
          { role: 'assistant', content: 'Ahoy!' },
        ],
      })}\n`,
  )
  .join('');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder.path, 'chats.jsonl'), CHATS);
});

afterAll(() => folder[Symbol.asyncDispose]());

const run = (...args: string[]) => runHere(args, { cwd: folder.path, env: { HOME: folder.path } });

it('renders what is trained, marked where there are no colors', async () => {
  const { code, stdout } = await run('render', 'chats.jsonl', '--model', 'tinkex/tiny', '--limit', '1');
  expect(code).toBe(0);
  expect(stdout).toContain('Conversation 1 of 2');
  expect(stdout).toMatch(/«[^»]*Ahoy![^»]*»/);
});

it('measures data, and refuses lines that are not conversations with 3', async () => {
  const { stdout } = await run('data', 'check', 'chats.jsonl', '--model', 'tinkex/tiny', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ conversations: 2, too_long: 0, without_target: 0, tokens: expect.any(Number) });
  await writeFile(join(folder.path, 'bad.txt'), `${CHATS}{}\n`);
  const bad = await run('data', 'check', 'bad.txt', '--model', 'tinkex/tiny');
  expect(bad).toMatchObject({ code: 3, stderr: expect.stringContaining('bad.txt:3') });
});

it('estimates tokens, and the cost at a price', async () => {
  const estimate = async (...flags: string[]) =>
    JSON.parse((await run('cost', 'estimate', 'chats.jsonl', '--model', 'tinkex/tiny', '--json', ...flags)).stdout) as Record<
      string,
      number | null
    >;
  const tokens = await estimate();
  expect(tokens).toMatchObject({ conversations: 2, epochs: 1, cost_usd: null });
  const priced = await estimate('--price', '2', '--num-epochs', '3');
  expect(priced['train_tokens']).toBe(3 * tokens['epoch_tokens']!);
  expect(priced['cost_usd']).toBeCloseTo((2 * priced['train_tokens']!) / 1e6, 12);
});

it('examines the connection: a verdict and a cure each', async () => {
  const healthy = await run('doctor', '--local', '--model', 'tinkex/tiny', '--json');
  expect(healthy, healthy.stderr).toMatchObject({ code: 0 });
  const { ok, checks } = JSON.parse(healthy.stdout) as { ok: boolean; checks: { check: string }[] };
  expect(ok).toBe(true);
  expect(checks.map(({ check }) => check)).toEqual(['Node', 'Key', 'URL', 'Proxy', 'Server', 'Clock', 'Model', 'Tokenizer', 'Renderer']);
  const sick = await run('doctor', '--base-url', 'http://127.0.0.1:9', '--max-retries', '0');
  expect(sick).toMatchObject({ code: 1, stdout: expect.stringMatching(/FAIL {2}Server: Connection failed[\s\S]*TINKER_BASE_URL/) });
});

it.each([
  ['a wrong address', { TINKER_BASE_URL: 'localhost' }, /FAIL {2}URL: TINKER_BASE_URL[\s\S]*http:\/\/127/],
  ['a server without a key', { TINKER_BASE_URL: 'http://127.0.0.1:9' }, /FAIL {2}Key: none[\s\S]*tinkex auth login/],
  ['a key that is none', { TINKER_API_KEY: 'secret-text' }, /FAIL {2}Key: .* look like a key/],
  ['a proxy that is none', { HTTPS_PROXY: 'ftp://user:secret-text@proxy' }, /FAIL {2}Proxy: [\s\S]*NO_PROXY/],
])('examines %s', async (_what, variables, found) => {
  const env = { HOME: folder.path, HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1', ...variables } as Record<string, string>;
  const { code, stdout, stderr } = await runHere(['doctor', '--max-retries', '0'], { env, cwd: folder.path });
  expect(code).toBe(1);
  expect(stdout).toMatch(found);
  expect(stdout + stderr).not.toContain('secret-text');
});

it('compares the renderer with the chat template of the model', async () => {
  const template = (role: string) =>
    `{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>${role}\n{% endif %}`;
  const examine = async (role: string) => {
    await writeTokenizer(join(folder.path, role), template(role));
    const flags = ['--local', '--model', 'tinkex/tiny', '--renderer', 'qwen3_instruct', '--tokenizer', role];
    return await run('doctor', ...flags);
  };
  expect(await examine('assistant')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('qwen3_instruct writes what the chat template'),
  });
  const other = await examine('model');
  expect(other).toMatchObject({ code: 1, stdout: expect.stringMatching(/FAIL {2}Renderer: .*differs.*"assistan[\s\S]*--renderer NAME/) });
});

it('completes commands and options in bash', async () => {
  const { stdout: script } = await run('completion', 'bash');
  const complete = async (...words: string[]): Promise<string[]> => {
    const program = `${script}\nCOMP_WORDS=(tinkex ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _tinkex; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const bash = spawn('bash', ['-c', program]);
    let text = '';
    bash.stdout.on('data', (part) => {
      text += String(part);
    });
    await once(bash, 'close');
    return text.trim().split('\n');
  };
  expect(await complete('che')).toEqual(['checkpoint']);
  expect(await complete('checkpoint', 'del')).toEqual(['delete']);
  expect(await complete('checkpoint', 'delete', '--dry')).toEqual(['--dry-run']);
  const [zsh, fish] = [await run('completion', 'zsh'), await run('completion', 'fish')];
  expect(zsh.stdout).toMatch(/^#compdef tinkex/);
  expect(fish.stdout).toContain("-n '__fish_seen_subcommand_from checkpoint; and not");
});
