import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '../gates/files.js';
import { fencedBlocks } from './markdown.js';

/** A TypeScript program found in the documentation. */
export interface Snippet {
  /** The Markdown file, relative to the repository. */
  readonly file: string;
  /** The line on which its code begins. */
  readonly line: number;
  readonly code: string;
  /** Whether it is executed, and not only compiled. */
  readonly isRun: boolean;
  /** The base name of the file it is written to. */
  readonly name: string;
}

const DOCUMENTS = /^(README\.md|packages\/[^/]+\/README\.md|docs\/guides\/[^/]+\.md)$/;

/** Every `ts` block of the READMEs and guides. `ts no-run` is compiled only; blocks in other languages are prose. */
export function findSnippets(baseDir: string): Snippet[] {
  return listFiles(baseDir, /\.md$/)
    .filter((file) => DOCUMENTS.test(file))
    .flatMap((file) =>
      fencedBlocks(readFileSync(join(baseDir, file), 'utf8'))
        .filter(({ info }) => info[0] === 'ts' || info[0] === 'typescript')
        .map(({ info, line, code }) => {
          const name = `${file.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()}-${line}`;
          return { file, line, code, isRun: !info.includes('no-run'), name };
        }),
    );
}

/** Rewrites the positions in a compiler's or a runtime's output (`name.ts(3,1)`, `name.ts:3:1`) to the lines of the Markdown files. */
export function toDocumentPositions(output: string, snippets: readonly Snippet[]): string {
  const byName = new Map(snippets.map((snippet) => [snippet.name, snippet]));
  return output.replace(
    /(?:file:\/\/)?[^\s()'"]*?([\w.-]+)\.m?ts(?:\((\d+),(\d+)\)|:(\d+):(\d+))/g,
    (match, name, line1, column1, line2, column2) => {
      const snippet = byName.get(name);
      return snippet === undefined ? match : `${snippet.file}:${snippet.line + Number(line1 ?? line2) - 1}:${column1 ?? column2}`;
    },
  );
}
