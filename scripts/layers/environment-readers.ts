import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LayerProblem } from './layer-problem.js';

const READS_ENVIRONMENT = /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[\s*['"`]env|\benv\b[^;]*\}\s*from\s*['"](node:)?process['"]/;
const COMMENT = /\/\*[\s\S]*?\*\/|(^|[^:'"`])\/\/.*$/gm;

/** In each package at most one source file reads the environment; when there are more, all of them are named. */
export function environmentReaders(baseDir: string, files: readonly string[]): LayerProblem[] {
  const readers = new Map<string, string[]>();
  for (const file of files) {
    const owner = /^packages\/([^/]+)\/src\//.exec(file)?.[1];
    if (owner === undefined || /\.test(-d)?\.ts$/.test(file)) continue;
    const source = readFileSync(join(baseDir, file), 'utf8').replace(COMMENT, '$1');
    if (READS_ENVIRONMENT.test(source)) readers.set(owner, [...(readers.get(owner) ?? []), file]);
  }
  return [...readers.values()]
    .filter((names) => names.length > 1)
    .flatMap((names) => names.map((from) => ({ rule: 'one-environment-reader', from, to: 'process.env' })));
}
