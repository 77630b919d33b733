import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { WorkspacePackage } from '../packages.mjs';
import { staleBenchTables } from './bench-tables.js';

/** A file of which a part follows from the manifests or from the results of the benchmark, and which lags behind. */
export interface StaleFile {
  /** Relative to the root. */
  readonly file: string;
  readonly problem: string;
  readonly wanted: string;
}

type Json = Record<string, unknown>;

const BLOCK = /(<!-- layers[^\n]*-->\n```text\n)[\s\S]*?(```\n)/;

/** What `npm run format` would rewrite: exports as published, project references, the list of layers, and the tables of measured ratios. */
export function staleFiles(baseDir: string, packages: readonly WorkspacePackage[]): StaleFile[] {
  return [
    ...packages.filter(({ isPublished }) => isPublished).flatMap((one) => [...staleExports(one), ...staleReferences(one, packages)]),
    ...staleLayers(baseDir, packages),
    ...staleBenchTables(baseDir, ['README.md', 'docs/guides/performance.md']),
  ];
}

/** Brings them up to date. */
export function writeStale(baseDir: string, stale: readonly StaleFile[]): void {
  for (const { file, wanted } of stale) writeFileSync(join(baseDir, file), wanted);
}

/** `publishConfig.exports` is `exports` without the condition that leads to the sources. */
function staleExports({ folder, manifest }: WorkspacePackage): StaleFile[] {
  const exports = Object.fromEntries(
    Object.entries(manifest['exports'] ?? {}).map(([subpath, target]) => [subpath, withoutSource(target)]),
  );
  if (isDeepStrictEqual(manifest['publishConfig']?.exports, exports)) return [];
  const wanted = { ...manifest, publishConfig: { ...manifest['publishConfig'], exports } };
  return [{ file: `${folder}/package.json`, problem: '`publishConfig.exports` differs from `exports`', wanted: json(wanted) }];
}

function withoutSource(target: unknown): unknown {
  if (typeof target !== 'object' || target === null) return target;
  const { '@tinkex/source': _, ...conditions } = target as Json;
  return conditions;
}

/** The references of the build are the dependencies on packages of the workspace. */
function staleReferences({ folder, dir, dependencies }: WorkspacePackage, packages: readonly WorkspacePackage[]): StaleFile[] {
  const file = join(dir, 'tsconfig.json');
  const config: Json = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const references = packages.filter(({ name }) => dependencies.includes(name)).map(({ name }) => ({ path: `../${name}` }));
  if (isDeepStrictEqual(config['references'] ?? [], references)) return [];
  return [
    { file: `${folder}/tsconfig.json`, problem: '`references` differ from the dependencies', wanted: json({ ...config, references }) },
  ];
}

function staleLayers(baseDir: string, packages: readonly WorkspacePackage[]): StaleFile[] {
  const text = readFileSync(join(baseDir, 'ARCHITECTURE.md'), 'utf8');
  const width = Math.max(...packages.map(({ name }) => name.length));
  const lines = packages.map(({ name, dependencies, testDependencies }) => {
    const inTests = testDependencies.length === 0 ? '' : `  (tests: ${testDependencies.join(', ')})`;
    return `${name.padEnd(width)}  ${dependencies.join(', ') || '-'}${inTests}\n`;
  });
  const wanted = text.replace(BLOCK, (_, before, after) => `${before}${lines.join('')}${after}`);
  return wanted === text && BLOCK.test(text)
    ? []
    : [{ file: 'ARCHITECTURE.md', problem: 'the list of layers differs from the manifests', wanted }];
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
