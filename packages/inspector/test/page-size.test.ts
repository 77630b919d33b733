import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

const PAGE = new URL('../dist/page/', import.meta.url);
const MAX_BYTES = 120_000;

it('the whole page is at most 120 kB, packed, and loads nothing from elsewhere', () => {
  const files = ['index.html', ...readdirSync(new URL('assets/', PAGE)).map((file) => `assets/${file}`)];
  const contents = files.map((file) => readFileSync(new URL(file, PAGE)));
  expect(files.sort()).toEqual(['assets/icon.svg', 'assets/page.css', 'assets/page.js', 'index.html']);
  expect(contents.reduce((sum, content) => sum + gzipSync(content).length, 0)).toBeLessThanOrEqual(MAX_BYTES);
  const style = readFileSync(new URL('assets/page.css', PAGE), 'utf8');
  expect(style).not.toMatch(/@import|url\(/);
});
