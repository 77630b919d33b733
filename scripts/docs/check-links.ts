import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { anchors, withoutCode } from './markdown.js';

const INLINE = /!?\[(?:[^\]\\]|\\.)*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g;
const REFERENCE = /^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?/;

/** Checks the relative links and anchors of Markdown files; returns a line for each that leads nowhere. Addresses elsewhere are not followed. */
export function checkLinks(baseDir: string, files: readonly string[]): { readonly links: number; readonly problems: readonly string[] } {
  const problems: string[] = [];
  let links = 0;
  for (const file of files) {
    const lines = withoutCode(readFileSync(join(baseDir, file), 'utf8')).split('\n');
    for (const [index, text] of lines.entries()) {
      const targets = [...text.matchAll(INLINE)].map(([, target = '']) => target);
      const reference = REFERENCE.exec(text)?.[1];
      for (const target of reference === undefined ? targets : [...targets, reference]) {
        if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) continue;
        links += 1;
        const problem = brokenLink(baseDir, file, target);
        if (problem !== undefined) problems.push(`${file}:${index + 1}: ${problem}`);
      }
    }
  }
  return { links, problems };
}

function brokenLink(baseDir: string, file: string, target: string): string | undefined {
  const [path = '', anchor] = decodeURI(target).split('#', 2);
  const absolute = path === '' ? join(baseDir, file) : join(baseDir, path.startsWith('/') ? '.' : dirname(file), path);
  if (relative(baseDir, absolute).startsWith('..')) return `${target} leaves the repository`;
  if (!existsSync(absolute)) return `${target} does not exist`;
  if (anchor === undefined || anchor === '' || !absolute.endsWith('.md') || statSync(absolute).isDirectory()) return undefined;
  return anchors(readFileSync(absolute, 'utf8')).has(anchor) ? undefined : `${target} has no such heading`;
}
