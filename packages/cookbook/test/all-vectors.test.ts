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

/** The kinds of cases of a file that no test names: the function or the run that was recorded, or else the case itself. */
function unnamedKinds(file: string): string[] {
  const isNamed = (name: string | undefined) => name === undefined || sources.includes(`'${name}'`);
  const unnamed = readCookbookVectors<NamedCase>(file).filter(({ fn, run, name }) => !isNamed(fn ?? run) && !(name && isNamed(name)));
  return [...new Set(unnamed.map(({ fn, run }) => fn ?? run ?? ''))];
}

describe('the vectors', () => {
  it('are all there', () => {
    expect(files).toHaveLength(35);
    expect(files.reduce((sum, file) => sum + readCookbookVectors(file).length, 0)).toBe(551);
  });

  it.each(files)('of %s are read by a test, each kind of them', (file) => {
    expect(sources).toContain(`'${file}'`);
    // Either every case of the file is a test, or the kinds are named one by one.
    if (new RegExp(`each\\(readCookbookVectors<\\w+>\\('${file}'\\)\\)\\(`).test(sources)) return;
    expect(unnamedKinds(file)).toEqual([]);
  });
});
