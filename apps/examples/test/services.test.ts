import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { busyService } from './busy-service.js';
import { runProgram, temporaryOutput } from './run-program.js';

describe('concurrent-sampling', () => {
  it('answers a thousand prompts although the server asks for pauses', async () => {
    await using out = await temporaryOutput();
    const { code, stdout, stderr } = await runProgram('concurrent-sampling', { out: out.path });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^1000 answers in /m);
    expect(stdout).toContain('asked for a pause 3 times, and no answer was lost');
    const answers = (await readFile(join(out.path, 'concurrent-sampling.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(new Set(answers.map(({ index }) => index)).size).toBe(1000);
  });

  it('loses none of them on a service with faults, and sends no number twice for another prompt', async () => {
    await using out = await temporaryOutput();
    await using service = await busyService({ seed: 5, rate: 0.02, kinds: ['close', 'reset', 'status-429', 'status-500'] });
    const { code, stdout, stderr } = await runProgram('concurrent-sampling', {
      out: out.path,
      env: service.env,
      args: ['--prompts', '150'],
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^150 answers in /m);
    expect(service.chaos.faults).toBeGreaterThan(0);
    service.server.verify();
  });
});

describe('multi-tenant', () => {
  it('keeps two tenants apart', async () => {
    const { code, stdout, stderr } = await runProgram('multi-tenant');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('first  learnt "One for the money. "');
    expect(stdout).toContain('second learnt "Two for the show! "');
    expect(stdout).toContain('second is held back: true');
    expect(stdout).toContain('first answered at once');
  });

  it('takes both services from the environment', async () => {
    await using first = await busyService({ seed: 6 });
    await using second = await startServer({ apiKeys: ['tml-other'] });
    const env = { ...first.env, TINKEX_SECOND_BASE_URL: second.url, TINKEX_SECOND_API_KEY: 'tml-other' };
    const { code, stdout, stderr } = await runProgram('multi-tenant', { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('first  learnt "One for the money. "');
    expect(stdout).toContain('second learnt "Two for the show! "');
    expect(second.count('optimStep')).toBe(15);
    first.server.verify();
    second.verify();
  });
});

describe('checkpoints', () => {
  it.each([
    ['on the embedded engine', undefined],
    ['through a bad network', 7],
  ])('does everything one can do with a checkpoint, %s', async (_where, seed) => {
    await using out = await temporaryOutput();
    await using service =
      seed === undefined ? undefined : await busyService({ seed, kinds: ['status-500', 'status-503', 'status-429', 'status-408'] });
    const { code, stdout, stderr } = await runProgram('checkpoints', { out: out.path, env: service?.env ?? {} });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/listed +weights\/step-5: training, \d+ bytes, expires 20/);
    expect(stdout).toMatch(/listed +sampler_weights\/step-5: sampler, \d+ bytes, kept/);
    expect(stdout).toMatch(/public: true[\s\S]*public: false/);
    const [, original, resumed] = /loss of the original (\d+\.\d+), of the resumed (\d+\.\d+)/.exec(stdout) ?? [];
    expect(resumed).toBe(original);
    expect(stdout).toContain('delete   0 checkpoints are left');
    const files = await readdir(join(out.path, 'checkpoint'));
    expect(files).toContain('adapter_model.safetensors');
    expect(JSON.parse(await readFile(join(out.path, 'checkpoint', 'adapter_config.json'), 'utf8'))).toMatchObject({ r: 8 });
    service?.server.verify();
  });
});

describe('telemetry', () => {
  it.each([
    ['on the embedded engine', undefined],
    ['through a bad network', 8],
  ])('shows log lines, metrics and spans, and no key, %s', async (_where, seed) => {
    await using service = seed === undefined ? undefined : await busyService({ seed });
    const { code, stdout, stderr } = await runProgram('telemetry', { env: service?.env ?? {} });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/info +tinkex:training:operation ForwardBackward/);
    expect(stdout).toMatch(/tinkex_training_operations_total\{.*ForwardBackward.*\} 3/);
    expect(stdout).toMatch(/\d × POST Sample/);
    expect(stdout).toMatch(/3 × training ForwardBackward/);
    expect(stdout).toMatch(/^ {2}http\.client\.request\.duration$/m);
    expect(stdout).not.toContain(service?.server.apiKey ?? 'tml-test-key');
  });
});

describe('testing-your-app', () => {
  it.each([
    ['on the embedded engine', undefined],
    ['through a bad network', 9],
  ])('runs the application that the folder tests, %s', async (_where, seed) => {
    // The application does not retry sampling, on purpose: its training is what the network disturbs.
    await using service =
      seed === undefined ? undefined : await busyService({ seed, routes: ['createModel', 'forwardBackward', 'optimStep', 'getInfo'] });
    const { code, stdout, stderr } = await runProgram('testing-your-app', { env: service?.env ?? {} });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('→ The waggle dance');
    expect(stdout).toContain('→ The righting reflex');
    service?.server.verify();
  });
});

describe('http-layer', () => {
  it('shows retries, a deadline and an error', async () => {
    const { code, stdout, stderr } = await runProgram('http-layer');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('models: tinkex/tiny (1 attempt)');
    expect(stdout).toMatch(/3 attempts, \d+ ms of waiting/);
    expect(stdout).toContain('TINKEX_TIMEOUT, phase headers');
    expect(stdout).toContain('TINKEX_NOT_FOUND, status 404');
  });

  it('calls the service that the environment names', async () => {
    await using service = await busyService({ seed: 10 });
    const { code, stdout } = await runProgram('http-layer', { env: service.env });
    expect(code).toBe(0);
    expect(stdout).toContain('models: tinkex/tiny');
    expect(service.server.count('getServerCapabilities')).toBeGreaterThan(0);
  });
});

describe('types-layer', () => {
  it('encodes, decodes and refuses, without a server', async () => {
    const { code, stdout, stderr } = await runProgram('types-layer');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('targets [20,30,40] from JSON, [20,30,40] from protobuf');
    expect(stdout).toContain('forward_backward_input.note: is not a known field');
    expect(stdout).toContain('Int32Array [1,2]');
  });
});
