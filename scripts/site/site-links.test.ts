import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../packages.mjs';
import { siteLinks } from './site-links.js';

const pages = new Map([
  ['docs/guides/training.md', 'guides/training.md'],
  ['docs/guides/README.md', 'guides/index.md'],
  ['packages/types/README.md', 'packages/types.md'],
]);
const rewrite = (line: string, source = 'docs/guides/training.md', target = 'guides/training.md') =>
  siteLinks(line, source, target, root, { pages, picture: (file) => `/pictures/${file}` });

it.each([
  ['a page beside it', '[x](README.md#start)', '[x](./index.md#start)'],
  ['a page elsewhere', '[x](../../packages/types/README.md)', '[x](../packages/types.md)'],
  ['a folder with a page', '[x](../guides)', '[x](./index.md)'],
  [
    'a page by its address in the repository',
    '[x](https://github.com/tinkex/tinkex-ts/blob/main/packages/types/README.md#a)',
    '[x](../packages/types.md#a)',
  ],
  ['a file without a page', '[x](../../LICENSE)', '[x](https://github.com/tinkex/tinkex-ts/blob/main/LICENSE)'],
  ['a folder without a page', '[x](../../scripts)', '[x](https://github.com/tinkex/tinkex-ts/tree/main/scripts)'],
  ['an anchor', '[x](#here)', '[x](#here)'],
  ['another site', '[x](https://example.com/y)', '[x](https://example.com/y)'],
])('leads to %s', (_, line, expected) => {
  expect(rewrite(line)).toBe(expected);
});

it('shows a copy of a picture', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tinkex-site-'));
  writeFileSync(join(folder, 'chart.svg'), '<svg/>');
  const copied = siteLinks('![x](chart.svg)', 'README.md', 'index.md', folder, { pages, picture: (file) => `/pictures/${file}` });
  rmSync(folder, { recursive: true });
  expect(copied).toBe('![x](/pictures/chart.svg)');
});
