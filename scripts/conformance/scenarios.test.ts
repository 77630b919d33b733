import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../packages.mjs';

/** The acceptance scenarios and how many numbered items each has. */
const SCENARIOS = { A: 6, B: 7, C: 5 };

const folder = join(root, 'packages/clients/test/integration');
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.test.ts'))
  .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/\(\s*'([ABC]\.\d+) /g)].map(([, item]) => item));

describe('acceptance scenarios', () => {
  const items = Object.entries(SCENARIOS).flatMap(([letter, count]) =>
    Array.from({ length: count }, (_, index) => `${letter}.${index + 1}`),
  );

  it.each(items)('%s has a test with its number in the name', (item) => {
    expect(names).toContain(item);
  });
});
