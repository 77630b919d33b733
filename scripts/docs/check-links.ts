import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { anchors, withoutCode } from './markdown.js';

const INLINE = /!?\[(?:[^\]\\]|\\.)*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g;
const REFERENCE = /^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?/;

/** Addresses of this repository's own files. */
const OWN = /^https:\/\/github\.com\/tinkex\/tinkex-ts\/(?:blob|tree)\/main\//;
/** Published with its package, where nothing else of the repository is. */
const PUBLISHED = /^(packages\/[^/]+)\/README\.md$/;

/**
 * Checks the links and anchors of Markdown files that stay in the repository, relative or by their address there; returns a line for each that leads
 * nowhere. Addresses elsewhere are not followed.
 */
export function checkLinks(baseDir: string, files: readonly string[]): { readonly links: number; readonly problems: readonly string[] } {
  const problems: string[] = [];
  let links = 0;
  for (const file of files) {
    const lines = withoutCode(readFileSync(join(baseDir, file), 'utf8')).split('\n');
    for (const [index, text] of lines.entries()) {
      const targets = [...text.matchAll(INLINE)].map(([, target = '']) => target);
      const reference = REFERENCE.exec(text)?.[1];
      for (const target of reference === undefined ? targets : [...targets, reference]) {
        const own = target.replace(OWN, '/');
        if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(own)) continue;
        links += 1;
        const problem = brokenLink(baseDir, file, own) ?? lostWhenPublished(file, target);
        if (problem !== undefined) problems.push(`${file}:${index + 1}: ${problem}`);
      }
    }
  }
  return { links, problems };
}

function lostWhenPublished(file: string, target: string): string | undefined {
  const folder = PUBLISHED.exec(file)?.[1];
  if (folder === undefined || OWN.test(target) || target.startsWith('#')) return undefined;
  const leaves = target.startsWith('/') || relative(folder, join(folder, target)).startsWith('..');
  return leaves ? `${target} leaves the package: readers in the registry need the whole address` : undefined;
}

function brokenLink(baseDir: string, file: string, target: string): string | undefined {
  const [path = '', anchor] = decodeURI(target).split('#', 2);
  const absolute = path === '' ? join(baseDir, file) : join(baseDir, path.startsWith('/') ? '.' : dirname(file), path);
  if (relative(baseDir, absolute).startsWith('..')) return `${target} leaves the repository`;
  if (!existsSync(absolute)) return `${target} does not exist`;
  if (anchor === undefined || anchor === '' || !absolute.endsWith('.md') || statSync(absolute).isDirectory()) return undefined;
  return anchors(readFileSync(absolute, 'utf8')).has(anchor) ? undefined : `${target} has no such heading`;
}
