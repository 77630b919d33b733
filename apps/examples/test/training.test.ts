import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { itBothWays } from './both-ways.js';

/** The two numbers of a line such as `Loss per token: 4.9 → 0.02`, for each such line. */
function changes(output: string, label: string): { readonly from: number; readonly to: number }[] {
  const found = output.matchAll(new RegExp(`${label}:? (\\d+\\.\\d+) → (\\d+\\.\\d+)`, 'g'));
  return Array.from(found, ([, from, to]) => ({ from: Number(from), to: Number(to) }));
}

/** The number of points of the curve in a picture. */
async function pointsOf(file: string): Promise<number | undefined> {
  const svg = await readFile(file, 'utf8');
  expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  return /<polyline [^>]*points="([^"]+)"/.exec(svg)?.[1]?.split(' ').length;
}

// The slowest come first: the others find their place beside them.
itBothWays({
  example: 'custom-loss',
  behaviour: 'teaches a preference, with either gradient',
  check: ({ stdout }) => {
    expect(stdout.match(/Prefers the chosen answer in 3 of 3 pairs; loss 0\.6931 → 0\.0/g)).toHaveLength(2);
    const [, byHand, byAutodiff] = /the same loss, up to rounding: (\d\.\d+) and (\d\.\d+)/.exec(stdout) ?? [];
    expect(Number(byHand)).toBeCloseTo(Number(byAutodiff), 3);
  },
});

itBothWays({
  example: 'rl',
  behaviour: 'raises the reward, with importance sampling and with PPO',
  argsWhenBusy: ['--iterations', '6'],
  check: async ({ stdout, out }) => {
    const rewards = changes(stdout, 'Mean reward');
    expect(rewards).toHaveLength(2);
    for (const { from, to } of rewards) expect(to).toBeGreaterThan(from + 0.2);
    for (const name of ['importance_sampling', 'ppo']) expect(await pointsOf(join(out, `rl-${name}.svg`))).toBeGreaterThanOrEqual(6);
  },
});

itBothWays({
  example: 'quickstart',
  behaviour: 'learns, samples and draws',
  check: async ({ stdout, out }) => {
    const [{ from, to } = { from: 0, to: 1 }] = changes(stdout, 'Loss per token');
    expect(to).toBeLessThan(from / 10);
    expect(stdout).toContain('after:  "The quick brown fox jumps over the lazy dog."');
    expect(stdout).not.toContain('before: "The quick brown fox jumps over the lazy dog."');
    expect(stdout).toContain('npm start -- --list');
    expect(await pointsOf(join(out, 'quickstart-loss.svg'))).toBe(30);
  },
});

// How it stops and continues is in terminal.test.ts.
itBothWays({
  example: 'supervised',
  behaviour: 'learns answers, and gets better at questions it never saw',
  argsWhenBusy: ['--epochs', '4'],
  modelWhenBusy: 'tinkex/small',
  check: async ({ stdout, out }) => {
    const [{ from, to } = { from: 0, to: 1 }] = changes(stdout, 'Validation loss per token');
    expect(to).toBeLessThan(from / 10);
    expect(stdout).toMatch(/parliament sit in Norway\? +→ +"Oslo, /);
    expect(await pointsOf(join(out, 'supervised-loss.svg'))).toBeGreaterThanOrEqual(16);
  },
});
