import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer } from '@tinkex/testkit';
import { expect, it } from 'vitest';
import { expectSuccess, itBothWays } from './both-ways.js';
import { busyService } from './busy-service.js';
import { runProgram } from './run-program.js';

itBothWays({
  example: 'concurrent-sampling',
  behaviour: 'answers every prompt, pauses or not',
  argsWhenBusy: ['--prompts', '150'],
  check: async ({ stdout, out }) => {
    const [, count, pauses] = /^(150|1000) of \1 answers in [\s\S]*asked for a pause (\d+) times; no answer was lost/m.exec(stdout) ?? [];
    if (count === '1000') expect(pauses).toBe('3'); // the embedded server is scripted to
    const lines = (await readFile(join(out, 'concurrent-sampling.jsonl'), 'utf8')).trim().split('\n');
    expect(new Set(lines.map((line) => JSON.parse(line).index)).size).toBe(Number(count));
  },
});

itBothWays({
  example: 'checkpoints',
  behaviour: 'does everything one can do with a checkpoint',
  check: async ({ stdout, out }) => {
    expect(stdout).toMatch(/listed +weights\/step-5: training, \d+ bytes, expires 20/);
    expect(stdout).toMatch(/listed +sampler_weights\/step-5: sampler, \d+ bytes, kept/);
    expect(stdout).toMatch(/public: true[\s\S]*public: false/);
    const [, original, resumed] = /loss of the original run (\d+\.\d+), of the resumed run (\d+\.\d+)/.exec(stdout) ?? [];
    expect(resumed).toBe(original);
    expect(stdout).toContain('delete   0 checkpoints are left');
    expect(await readdir(join(out, 'checkpoint'))).toContain('adapter_model.safetensors');
    expect(JSON.parse(await readFile(join(out, 'checkpoint', 'adapter_config.json'), 'utf8'))).toMatchObject({ r: 8 });
  },
});

itBothWays({
  example: 'telemetry',
  behaviour: 'shows log lines, metrics and spans, and no key',
  check: ({ stdout, apiKey }) => {
    expect(stdout).toMatch(/info +tinkex:training:operation ForwardBackward/);
    expect(stdout).toMatch(/tinkex_training_operations_total\{.*ForwardBackward.*\} 3/);
    expect(stdout).toMatch(/\d × POST Sample/);
    expect(stdout).toMatch(/3 × training ForwardBackward/);
    expect(stdout).toMatch(/^ {2}http\.client\.request\.duration$/m);
    expect(stdout).not.toContain(apiKey);
  },
});

itBothWays({
  example: 'testing-your-app',
  behaviour: 'runs the application that the folder tests',
  check: ({ stdout }) => {
    expect(stdout).toContain('→ "The waggle dance"');
    expect(stdout).toContain('→ "The righting reflex"');
  },
});

it.concurrent('multi-tenant keeps two tenants apart', async () => {
  const ended = await runProgram('multi-tenant');
  expectSuccess(ended);
  expect(ended.stdout).toContain('first  learned "One for the money. "');
  expect(ended.stdout).toContain('second learned "Two for the show! "');
  expect(ended.stdout).toContain('second is held back: true');
  expect(ended.stdout).toContain('first answered immediately');
});

it.concurrent('multi-tenant takes both services from the environment, one of them behind a bad network', async () => {
  await using first = await busyService();
  await using second = await startServer({ apiKeys: ['tml-other'] });
  const env = { ...first.env, TINKEX_SECOND_BASE_URL: second.url, TINKEX_SECOND_API_KEY: 'tml-other' };
  const ended = await runProgram('multi-tenant', { env });
  expectSuccess(ended);
  expect(ended.stdout).toContain('first  learned "One for the money. "');
  expect(ended.stdout).toContain('second learned "Two for the show! "');
  expect(first.chaos.faults).toBeGreaterThan(0);
  expect(second.count('optimStep')).toBe(15);
  first.server.verify();
  second.verify();
});

it.concurrent('http-layer shows retries, a deadline and an error', async () => {
  const ended = await runProgram('http-layer');
  expectSuccess(ended);
  expect(ended.stdout).toContain('models: tinkex/tiny (1 attempt)');
  expect(ended.stdout).toMatch(/3 attempts, \d+ ms of waiting/);
  expect(ended.stdout).toContain('TINKEX_TIMEOUT, phase headers');
  expect(ended.stdout).toContain('TINKEX_NOT_FOUND, status 404');
});

it.concurrent('http-layer calls the service that the environment names, through a bad network', async () => {
  await using service = await busyService();
  const ended = await runProgram('http-layer', { env: service.env });
  expectSuccess(ended);
  expect(ended.stdout).toContain('models: tinkex/tiny');
  expect(ended.stdout).toContain('TINKEX_NOT_FOUND, status 404');
  expect(service.chaos.faults).toBeGreaterThan(0);
});

it.concurrent('types-layer encodes, decodes and refuses, without a server', async () => {
  const ended = await runProgram('types-layer');
  expectSuccess(ended);
  expect(ended.stdout).toContain('Round trip: targets [20,30,40]');
  expect(ended.stdout).toContain('forward_backward_input.note: is not a known field');
  expect(ended.stdout).toContain('Int32Array [1,2]');
});
