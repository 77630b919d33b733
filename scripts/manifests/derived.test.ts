import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, type WorkspacePackage, workspacePackages } from '../packages.mjs';
import { staleBenchTables } from './bench-tables.js';
import { staleFiles } from './derived.js';

const packages = workspacePackages();
const change = (name: string, changed: Partial<WorkspacePackage>): WorkspacePackage[] =>
  packages.map((one) => (one.name === name ? { ...one, ...changed } : one));

it('finds nothing stale in this repository', () => {
  expect(staleFiles(root, packages)).toEqual([]);
});

it('adds a new entry point to what is published, without its source', () => {
  const { manifest } = packages.find(({ name }) => name === 'http') as WorkspacePackage;
  const more = { '@tinkex/source': './src/more.ts', types: './dist/more.d.ts', default: './dist/more.js' };
  const [stale, ...others] = staleFiles(
    root,
    change('http', { manifest: { ...manifest, exports: { ...manifest['exports'], './more': more } } }),
  );
  expect(others).toEqual([]);
  expect(stale?.file).toBe('packages/http/package.json');
  expect(JSON.parse(stale?.wanted ?? '').publishConfig.exports['./more']).toEqual({ types: './dist/more.d.ts', default: './dist/more.js' });
});

it('follows a new dependency in the references and in the list of layers', () => {
  const stale = staleFiles(root, change('testkit', { dependencies: ['types'] }));
  expect(stale.map(({ file }) => file)).toEqual(['packages/testkit/tsconfig.json', 'ARCHITECTURE.md']);
  expect(JSON.parse(stale[0]?.wanted ?? '').references).toEqual([{ path: '../types' }]);
  expect(stale[1]?.wanted).toMatch(/^testkit +types$/m);
});

it('fills the tables of ratios from the last full run, with its goals', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tinkex-tables-'));
  mkdirSync(join(folder, 'bench/results'), { recursive: true });
  const outcome = {
    ...{ metric: 'cpuMs', of: 'tinkex', against: 'python', value: { median: 0.158, low: 0.154, high: 0.161 } },
    ...{ goal: { atMost: 0.05 }, isMet: false },
  };
  writeFileSync(join(folder, 'bench/results/latest.json'), JSON.stringify({ benchmarks: [{ id: 'import', outcomes: [outcome] }] }));
  writeFileSync(join(folder, 'page.md'), 'Text.\n<!-- bench python: generated -->\nold\n<!-- end of bench -->\nMore.\n');
  const [stale] = staleBenchTables(folder, ['page.md']);
  expect(stale?.wanted).toContain('| CPU to import | 0.158x (0.154x to 0.161x) | at most 0.05x: missed | `npm run bench import` |');
  expect(stale?.wanted).toContain('| CPU of a training step | not measured | | `npm run bench training` |');
  expect(stale?.wanted).toMatch(/^Text\.\n[\s\S]*More\.\n$/);
  writeFileSync(join(folder, 'page.md'), stale?.wanted ?? '');
  expect(staleBenchTables(folder, ['page.md'])).toEqual([]);
  rmSync(folder, { recursive: true });
});
