import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { itBothWays } from './both-ways.js';
import { changeOf } from './printed.js';

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
  example: 'quickstart',
  behaviour: 'learns, samples and draws',
  check: async ({ stdout, out }) => {
    const { from, to } = changeOf(stdout, 'Loss per token');
    expect(to).toBeLessThan(from / 10);
    expect(stdout).toContain('after:  "The quick brown fox jumps over the lazy dog."');
    expect(stdout).not.toContain('before: "The quick brown fox jumps over the lazy dog."');
    expect(stdout).toContain('npm start -- --list');
    expect(await pointsOf(join(out, 'quickstart-loss.svg'))).toBe(30);
  },
});
