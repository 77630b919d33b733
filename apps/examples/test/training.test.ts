import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { busyService } from './busy-service.js';
import { type RunOptions, runProgram, temporaryOutput } from './run-program.js';

/** The two numbers of a line such as `Loss per token: 4.9 → 0.02`. */
function change(output: string, label: string): { readonly from: number; readonly to: number } {
  const [, from, to] = new RegExp(`${label}:? (\\d+\\.\\d+) → (\\d+\\.\\d+)`).exec(output) ?? [];
  return { from: Number(from), to: Number(to) };
}

async function expectQuickstart(options: RunOptions): Promise<void> {
  await using out = await temporaryOutput();
  const { code, stdout, stderr } = await runProgram('quickstart', { ...options, out: out.path });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { from, to } = change(stdout, 'Loss per token');
  expect(to).toBeLessThan(from / 10);
  expect(stdout).toContain('after:  "The quick brown fox jumps over the lazy dog."');
  expect(stdout).not.toContain('before: "The quick brown fox jumps over the lazy dog."');
  expect(stdout).toContain('npm start -- --list');
  expect(stdout).not.toContain('\u001b'); // colours and moving lines are for terminals
  const svg = await readFile(join(out.path, 'quickstart-loss.svg'), 'utf8');
  expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  expect(/<polyline points="([^"]+)"/.exec(svg)?.[1]?.split(' ')).toHaveLength(30);
}

describe('quickstart', () => {
  it('learns, samples and draws, with no account', async () => {
    await expectQuickstart({});
  });

  it('does the same on a service that the environment names, through a bad network', async () => {
    await using service = await busyService({ seed: 1 });
    await expectQuickstart({ env: service.env });
    expect(service.chaos.faults).toBeGreaterThan(0);
    service.server.verify();
  });

  it('stops at Ctrl-C, says what is lost, and exits with 130', async () => {
    const { code, stderr } = await runProgram('quickstart', { interruptAt: /step +5\// });
    expect(code).toBe(130);
    expect(stderr.trim()).toBe('Interrupted. What was not saved to a checkpoint is lost.');
  });
});

describe('supervised', () => {
  it('goes on after Ctrl-C as if it had never stopped', async () => {
    await using interrupted = await temporaryOutput();
    await using straight = await temporaryOutput();
    const first = await runProgram('supervised', { out: interrupted.path, interruptAt: /step +15\// });
    expect(first).toMatchObject({ code: 130, stderr: '' });
    const step = Number(/Interrupted after step (\d+)\. Nothing is lost/.exec(first.stdout)?.[1]);
    expect(step).toBeGreaterThanOrEqual(15);

    const second = await runProgram('supervised', { out: interrupted.path });
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toContain(`Going on after step ${step}, from tinker://`);
    const uninterrupted = await runProgram('supervised', { out: straight.path });
    const expected = change(uninterrupted.stdout, 'Validation loss per token');
    expect(change(second.stdout, 'Validation loss per token').to).toBe(expected.to);
    expect(expected.to).toBeLessThan(expected.from / 10);
    expect(uninterrupted.stdout).toMatch(/capital of Greece\? +→ +Athens, very old\./);
    expect(await readFile(join(straight.path, 'supervised-loss.svg'), 'utf8')).toContain('</svg>');
  });

  it('trains on a service through a bad network', async () => {
    await using out = await temporaryOutput();
    await using service = await busyService({ seed: 2 });
    const { code, stdout, stderr } = await runProgram('supervised', { out: out.path, env: service.env, args: ['--epochs', '4'] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { from, to } = change(stdout, 'Validation loss per token');
    expect(to).toBeLessThan(from / 5);
    service.server.verify();
  });
});

describe('rl', () => {
  it('raises the reward, with importance sampling and with PPO', async () => {
    await using out = await temporaryOutput();
    const { code, stdout, stderr } = await runProgram('rl', { out: out.path });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rewards = [...stdout.matchAll(/Mean reward: (\d\.\d+) → (\d\.\d+)/g)].map(([, from, to]) => [Number(from), Number(to)]);
    expect(rewards).toHaveLength(2);
    for (const [from = 1, to = 0] of rewards) expect(to).toBeGreaterThan(from + 0.5);
    for (const name of ['importance_sampling', 'ppo']) expect(await readFile(join(out.path, `rl-${name}.svg`), 'utf8')).toContain('</svg>');
  });

  it('raises it through a bad network too', async () => {
    await using out = await temporaryOutput();
    await using service = await busyService({ seed: 3, rate: 0.03 });
    const { code, stdout, stderr } = await runProgram('rl', {
      out: out.path,
      env: service.env,
      args: ['--loss', 'ppo', '--iterations', '6'],
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { from, to } = change(stdout, 'Mean reward');
    expect(to).toBeGreaterThan(from + 0.2);
    service.server.verify();
  });
});

describe('custom-loss', () => {
  it.each([
    ['on the embedded engine', undefined],
    ['through a bad network', 4],
  ])('teaches a preference, with either gradient, %s', async (_where, seed) => {
    await using service = seed === undefined ? undefined : await busyService({ seed, rate: 0.03 });
    const { code, stdout, stderr } = await runProgram('custom-loss', { env: service?.env ?? {} });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/Prefers the chosen answer in 3 of 3 pairs; loss 0\.6931 → 0\.0/g)).toHaveLength(2);
    const [, byHand, byAutodiff] = /the same loss, up to rounding: (\d\.\d+) and (\d\.\d+)/.exec(stdout) ?? [];
    expect(Number(byHand)).toBeCloseTo(Number(byAutodiff), 3);
    service?.server.verify();
  });
});
