import { join } from 'node:path';
import { listFiles } from '../gates/files.js';

/** What is checked: programs, and the pages that maintainers read. */
const CHECKED = [
  /^(packages|apps)\/[^/]+\/(src|test)\/.*\.(ts|mjs)$/,
  /^(bench|scripts)\/.*\.(ts|mjs)$/,
  /^[^/]*\.(ts|mjs)$/,
  /^(README|CONTRIBUTING|ARCHITECTURE|SECURITY)\.md$/,
  /^docs\/(contributing|decisions)\/[^/]+\.md$/,
];

const NEVER = [
  /\/proto\/gen\//,
  /(^|\/)vectors\/protocol\//,
  // Source lines as data, and the word list itself.
  /^scripts\/mutation\/mutations\.ts$/,
  /^scripts\/prose\/(rules|check-prose\.test)\.ts$/,
];

/** Decisions older than the word list. A new decision is checked; who rewrites one of these lowers the bound or removes it. */
const OLD_DECISIONS =
  /^docs\/decisions\/(000[1-7]|010[1-3]|020[1-3]|030[12]|0310|040[1-5]|042[0-5]|050[1-4]|060[12]|070[1-3]|dependencies)\b/;

/** The files to check, relative to `baseDir`. Paths narrow it down to what they name; a page named there is checked even if it is an old one. */
export function filesToCheck(baseDir: string, paths: readonly string[]): string[] {
  const wanted = paths.map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''));
  const isNamed = (file: string): boolean => wanted.some((path) => file === path || file.startsWith(`${path}/`));
  return listFiles(join(baseDir), /\.(ts|mjs|md)$/).filter((file) => {
    if (NEVER.some((pattern) => pattern.test(file))) return false;
    if (wanted.length > 0) return isNamed(file);
    return CHECKED.some((pattern) => pattern.test(file)) && !OLD_DECISIONS.test(file);
  });
}
