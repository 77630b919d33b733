import { expect, it } from 'vitest';
import { root, type WorkspacePackage, workspacePackages } from '../packages.mjs';
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
