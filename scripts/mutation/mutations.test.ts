import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../packages.mjs';
import { mutations } from './mutations.js';

// The check itself takes minutes and is a separate command; that its list follows the sources is cheap to check.
describe('mutations', () => {
  it.each(mutations)('finds what to break: $invariant', ({ file, find, package: name, tests }) => {
    expect(readFileSync(join(root, file), 'utf8').split(find)).toHaveLength(2);
    for (const test of tests) expect(existsSync(join(root, 'packages', name, test)), test).toBe(true);
  });
});
