import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProcessContext } from '../src/commands/command-context.js';
import { textWidth } from '../src/output/text-width.js';
import { createProgram } from '../src/program.js';
import { type FakeHub, startFakeHub } from './fake-hub.js';
import { shapeOf, temporaryFolder } from './run-command.js';
import { runHere } from './run-here.js';
import { SECRET_KEY, type SeededServer, startSeededServer } from './seeded-server.js';

const CHATS = ['Hi', 'Hello'].map((content) => {
  const messages = [
    { role: 'user', content },
    { role: 'assistant', content: 'Ahoy!' },
  ];
  return `${JSON.stringify({ messages })}\n`;
});
const COLUMNS = 100;
const HUB_TOKEN = 'hf_secret_of_the_tests';

/** One call of every command, in an order in which they work one after the other. */
const CASES: readonly {
  readonly line: string;
  readonly input?: string;
  readonly stopAt?: RegExp;
  readonly code?: number;
  /** Whether what it prints differs each time in more than times and addresses. */
  readonly isFree?: boolean;
}[] = [
  { line: 'version' },
  { line: 'init --data chats.jsonl --model tinkex/tiny --log-path runs/$mode --yes --force' },
  { line: 'train sft --max-steps 1 --learning-rate 0.01', isFree: true },
  { line: 'train rl --data sums.jsonl --config rl.json', isFree: true },
  { line: 'train dpo --config dpo.json', isFree: true },
  { line: 'resume runs/$mode', isFree: true },
  { line: 'sample runs/$mode -p Hi --max-tokens 4', isFree: true },
  { line: 'chat runs/$mode --max-tokens 4', input: 'Hi\n/exit\n', isFree: true },
  { line: 'render chats.jsonl --model tinkex/tiny' },
  { line: 'data check chats.jsonl --model tinkex/tiny' },
  { line: 'cost estimate chats.jsonl --model tinkex/tiny --price 2' },
  { line: 'auth login', input: `${SECRET_KEY}\n` },
  { line: 'auth status' },
  { line: 'auth whoami' },
  { line: 'auth logout' },
  { line: 'model list' },
  { line: 'model list TINY' },
  { line: 'run list --project seeded' },
  { line: 'run list --project seeded -c id,cost' },
  { line: 'run info $runId' },
  { line: 'run info $runId --cost' },
  { line: 'checkpoint list --run-id $runId' },
  { line: 'checkpoint list --run-id $runId --type sampler' },
  { line: 'checkpoint info $training' },
  { line: 'checkpoint publish $training' },
  { line: 'checkpoint unpublish $training' },
  { line: 'checkpoint set-ttl $training --ttl 7200' },
  { line: 'checkpoint copy $sampler --project elsewhere' },
  { line: 'checkpoint download $external -o weights --force' },
  { line: 'checkpoint push-hf $external --repo me/adapter' },
  { line: 'checkpoint delete --run-id $runId --type external --dry-run' },
  { line: 'checkpoint delete --run-id $runId --before 2000-01-01 --yes' },
  { line: 'session list --limit 1' },
  { line: 'session info $sessionId' },
  { line: 'session search seeded --status client_finished --metadata who=tests' },
  { line: 'session export-trace $sessionId --url-only' },
  { line: 'session export-trace $sessionId -o trace.pftrace' },
  { line: 'sampler info $samplerId' },
  { line: 'billing usage 2020-01-01 2020-01-02' },
  { line: 'billing checkpoint-storage' },
  { line: 'doctor --model tinkex/tiny', isFree: true },
  { line: 'completion bash' },
  { line: 'serve --no-state --port 0 --gateway-port 0 --inspector-port 0', stopAt: /Ctrl-C/, code: 130, isFree: true },
  { line: 'gateway --port 0', stopAt: /Ctrl-C/, code: 130, isFree: true },
  { line: 'inspect runs', stopAt: /Ctrl-C/, code: 130, isFree: true },
];

/** Commands that take no notice of `--json`: they talk, serve or print a script. */
const NO_JSON = /^(chat|completion|serve|gateway|inspect|checkpoint (publish|unpublish|set-ttl))/;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let seeded: SeededServer;
let hub: FakeHub;

beforeAll(async () => {
  folder = await temporaryFolder();
  seeded = await startSeededServer(folder.path, { jwt: { email: 'a@example.com' } });
  hub = await startFakeHub();
  const message = (content: string) => [{ role: 'assistant', content }];
  const prompt = [{ role: 'user', content: 'Hi' }];
  const comparison = { comparison: { prompt_conversation: prompt, completion_A: message('Yo'), completion_B: message('No') }, label: 'A' };
  const shared = { model: 'tinkex/tiny', learningRate: 0.01, maxSteps: 1, evalEvery: 0 };
  const files = {
    'chats.jsonl': CHATS.join(''),
    'sums.jsonl': '{"question":"1+1?","answer":"2"}\n',
    'pairs.jsonl': `${JSON.stringify(comparison)}\n`.repeat(2),
    'rl.json': JSON.stringify({
      recipe: 'rl',
      data: 'sums.jsonl',
      logPath: 'runs/rl',
      maxTokens: 4,
      groupsPerBatch: 1,
      groupSize: 2,
      ...shared,
    }),
    'dpo.json': JSON.stringify({ recipe: 'dpo', data: 'pairs.jsonl', logPath: 'runs/dpo', batchSize: 2, ...shared }),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
});

afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await seeded[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const PLACEHOLDERS = ['runId', 'sessionId', 'samplerId', 'training', 'sampler', 'external'] as const;

function wordsOf(line: string, mode: string): string[] {
  return line.split(' ').map((word) => {
    const name = PLACEHOLDERS.find((each) => word === `$${each}`);
    return name === undefined ? word.replace('$mode', mode) : seeded[name];
  });
}

async function run({ line, input, stopAt, code = 0 }: (typeof CASES)[number], mode: string, columns?: number) {
  const { TINKER_API_KEY: key, ...open } = seeded.env;
  const env = { ...(line === 'auth login' ? open : { ...open, TINKER_API_KEY: key }), HF_TOKEN: HUB_TOKEN, HF_ENDPOINT: hub.url };
  const flags = mode === 'json' ? ['--json'] : [];
  const result = await runHere([...wordsOf(line, mode), ...flags], { env, cwd: folder.path, input, stopAt, columns });
  const all = result.stdout + result.stderr;
  expect(all).not.toContain(SECRET_KEY);
  expect(all).not.toContain(HUB_TOKEN);
  expect(result.code, all).toBe(code);
  return result;
}

it('has a call of every command', async () => {
  const names: string[] = [];
  const walk = (command: Command, path: readonly string[]): void => {
    if (command.commands.length === 0) names.push(path.join(' '));
    for (const each of command.commands) walk(each, [...path, each.name()]);
  };
  walk(await createProgram({} as ProcessContext, ['completion']), []);
  const isCalled = (name: string): boolean => CASES.some(({ line }) => line === name || line.startsWith(`${name} `));
  expect(names.filter((name) => !isCalled(name))).toEqual([]);
});

describe('in a pipe', () => {
  it.each(CASES)('tinkex $line writes plain text', async (one) => {
    const { stdout, stderr } = await run(one, 'pipe');
    expect(stdout + stderr).not.toContain('\u001b');
    expect(stdout).not.toMatch(/[╭│╰]/);
  });
});

describe('in a terminal', () => {
  it.each(CASES)('tinkex $line fits it', async (one) => {
    const { stdout } = await run(one, 'tty', COLUMNS);
    for (const line of stdout.split('\n').filter((each) => /^[╭│├╰]/.test(each))) expect(textWidth(line)).toBeLessThanOrEqual(COLUMNS);
  });
});

describe('for programs', () => {
  it.each(CASES.filter(({ line }) => !NO_JSON.test(line)))('tinkex $line --json has a stable shape', async (one) => {
    const json: unknown = JSON.parse((await run(one, 'json')).stdout);
    expect(one.isFree === true ? keysOf(json) : shapeOf(json)).toMatchSnapshot();
  });
});

/** The names of the fields, for what has other values each time. */
function keysOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(keysOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, name === 'metrics' ? 'METRICS' : keysOf(each)]));
}
