import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkLinks } from './check-links.js';
import { anchors, fencedBlocks, withoutCode } from './markdown.js';

describe('fencedBlocks', () => {
  it('gives the info words, the first line and the code of each block', () => {
    const blocks = fencedBlocks('# A\n\n```ts no-run\nconst a = 1;\n```\n\n~~~text\n```\n~~~\n');
    expect(blocks).toEqual([
      { info: ['ts', 'no-run'], line: 4, code: 'const a = 1;\n' },
      { info: ['text'], line: 8, code: '```\n' },
    ]);
  });

  it('keeps a shorter fence inside a longer one, and takes the indentation of the fence off the code', () => {
    expect(fencedBlocks('````md\n```ts\n````\n')).toEqual([{ info: ['md'], line: 2, code: '```ts\n' }]);
    expect(fencedBlocks('  ```ts\n  a();\n    b();\n  ```\n')[0]?.code).toBe('a();\n  b();\n');
  });
});

describe('withoutCode', () => {
  it('blanks fences and spans but keeps the lines', () => {
    expect(withoutCode('a `[x](y)` b\n```\n[x](y)\n```\nc').split('\n')).toEqual([`a${' '.repeat(10)}b`, '', '', '', 'c']);
  });
});

describe('anchors', () => {
  it('names headings as GitHub does and numbers repeated ones', () => {
    expect([...anchors('# The `foo` API, v2!\n## A\n## A\n```\n# no\n```\n<a id="here"></a>\n')]).toEqual([
      'the-foo-api-v2',
      'a',
      'a-1',
      'here',
    ]);
  });
});

describe('checkLinks', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tinkex-links-'));
    mkdirSync(join(directory, 'docs'));
    writeFileSync(join(directory, 'docs/b.md'), '# Title\n\n[up](../a.md) [out](../../x.md) [self](#title)\n');
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('reports missing files, missing headings and ways out of the repository, with file and line', () => {
    writeFileSync(
      join(directory, 'a.md'),
      '[b](docs/b.md#title) [web](https://example.com)\n[c](docs/c.md)\n[d](docs/b.md#nope)\n\n[ref]: ./gone\n',
    );
    expect(checkLinks(directory, ['a.md', 'docs/b.md'])).toEqual({
      links: 7,
      problems: [
        'a.md:2: docs/c.md does not exist',
        'a.md:3: docs/b.md#nope has no such heading',
        'a.md:5: ./gone does not exist',
        'docs/b.md:3: ../../x.md leaves the repository',
      ],
    });
  });

  it("follows the repository's own addresses, and wants them in READMEs that are published", () => {
    const own = 'https://github.com/tinkex/tinkex-ts/blob/main';
    mkdirSync(join(directory, 'packages/p'), { recursive: true });
    writeFileSync(join(directory, 'packages/p/x.ts'), '');
    writeFileSync(join(directory, 'docs/b.md'), '# Title\n');
    writeFileSync(
      join(directory, 'packages/p/README.md'),
      `[b](${own}/docs/b.md#title) [gone](${own}/docs/c.md)\n[near](x.ts) [far](../../docs/b.md)\n`,
    );
    expect(checkLinks(directory, ['packages/p/README.md'])).toEqual({
      links: 4,
      problems: [
        'packages/p/README.md:1: /docs/c.md does not exist',
        'packages/p/README.md:2: ../../docs/b.md leaves the package: readers in the registry need the whole address',
      ],
    });
  });
});
