import { join } from 'node:path';
import { listFiles } from '../gates/files.js';

/** What is checked: programs, and every page that people read. */
const CHECKED = [
  /^(packages|apps)\/[^/]+\/(src|test)\/.*\.(ts|mjs)$/,
  /^(bench|scripts)\/.*\.(ts|mjs)$/,
  /^[^/]*\.(ts|mjs)$/,
  /^(README|CONTRIBUTING|ARCHITECTURE|SECURITY)\.md$/,
  /^(packages|apps)\/[^/]+\/README\.md$/,
  /^docs\/(contributing|decisions|guides|protocol|site)\/[^/]+\.md$/,
];

const NEVER = [
  /\/proto\/gen\//,
  /(^|\/)vectors\/protocol\//,
  // Source lines as data, and the word list itself.
  /^scripts\/mutation\/mutations\.ts$/,
  /^scripts\/prose\/(rules|check-prose\.test)\.ts$/,
];

/** The files to check, relative to `baseDir`. Paths narrow it down to what they name. */
export function filesToCheck(baseDir: string, paths: readonly string[]): string[] {
  const wanted = paths.map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''));
  const isNamed = (file: string): boolean => wanted.some((path) => file === path || file.startsWith(`${path}/`));
  return listFiles(join(baseDir), /\.(ts|mjs|md)$/).filter((file) => {
    if (NEVER.some((pattern) => pattern.test(file))) return false;
    if (wanted.length > 0) return isNamed(file);
    return CHECKED.some((pattern) => pattern.test(file));
  });
}
