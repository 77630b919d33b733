import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findSnippets, toDocumentPositions } from './snippets.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tinkex-snippets-'));
  mkdirSync(join(directory, 'docs/guides'), { recursive: true });
  writeFileSync(join(directory, 'README.md'), '# A\n```ts\nrun();\n```\n```text\nprose\n```\n');
  writeFileSync(join(directory, 'docs/guides/start.md'), '```ts no-run\nhosted();\n```\n');
  writeFileSync(join(directory, 'docs/internal.md'), '```ts\nignored();\n```\n');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('finds the programs of READMEs and guides, and which of them run', () => {
  expect(findSnippets(directory)).toEqual([
    { file: 'README.md', line: 3, code: 'run();\n', isRun: true, name: 'readme-3' },
    { file: 'docs/guides/start.md', line: 2, code: 'hosted();\n', isRun: false, name: 'docs-guides-start-2' },
  ]);
});

it('turns positions of the compiler and of stack traces into positions in the document', () => {
  const snippets = findSnippets(directory);
  expect(toDocumentPositions('readme-3.ts(4,7): error', snippets)).toBe('README.md:6:7: error');
  expect(toDocumentPositions('    at main (/x/docs-guides-start-2.ts:1:9)', snippets)).toBe('    at main (docs/guides/start.md:2:9)');
  expect(toDocumentPositions('other.ts(4,7): error', snippets)).toBe('other.ts(4,7): error');
});
