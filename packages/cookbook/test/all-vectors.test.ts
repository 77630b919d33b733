import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';

/** Where the vectors of the cookbook are used. */
const TESTS = ['.', './support', '../../telemetry/test'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
const files = readdirSync(fileURLToPath(new URL('../../../vectors/cookbook', import.meta.url)))
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length));

const sources = TESTS.flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && file !== 'all-vectors.test.ts')
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
).join('\n');

interface NamedCase {
  readonly name?: string;
  readonly fn?: string;
  readonly run?: string;
}

/** Whether a test names a case: whole, or by its beginning where a file has several that begin alike. */
function isNamed(name: string): boolean {
  return sources.includes(`'${name}'`) || STARTS.some((start) => name.startsWith(start));
}

const STARTS = [...sources.matchAll(/named\('([^']+)'\)/g)].map(([, start]) => start as string);

/** The kinds of cases of a file that no test names: the function or the run that was recorded, or else the case itself. */
function unnamedKinds(file: string): string[] {
  const kinds = readCookbookVectors<NamedCase>(file).map(({ fn, run, name = '' }) => [fn ?? run ?? name, name] as const);
  return [...new Set(kinds.filter((names) => !names.some(isNamed)).map(([kind]) => kind))];
}

/** Whether each case of a file is a test, directly or by the name of a constant. */
function isReadWhole(file: string): boolean {
  const read = `readCookbookVectors<\\w+>\\('${file}'\\)`;
  const constant = new RegExp(`const (\\w+) = ${read};`).exec(sources)?.[1];
  return new RegExp(`each\\(${read}\\)\\(`).test(sources) || (constant !== undefined && sources.includes(`each(${constant})(`));
}

describe('the vectors', () => {
  it('are all there', () => {
    expect(files).toHaveLength(35);
    expect(files.reduce((sum, file) => sum + readCookbookVectors(file).length, 0)).toBe(551);
  });

  it.each(files)('of %s are read by a test, each kind of them', (file) => {
    expect(sources).toContain(`'${file}'`);
    // Either every case of the file is a test, or the kinds are named one by one.
    if (isReadWhole(file)) return;
    expect(unnamedKinds(file)).toEqual([]);
  });
});
