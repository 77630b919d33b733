import { expect, it } from 'vitest';
import { apiPages, type DocumentedPackage } from './api-pages.js';

const one = (name: string): DocumentedPackage => ({
  ...{ id: `@tinkex/${name}`, folder: `packages/${name}`, description: `All of ${name}.`, alsoExports: [] },
  has: (file) => file.startsWith('src/'),
});

function member(name: string, path: string, text: string): string {
  return `### ${name}\n\nDefined in: [${path}:3](https://github.com/x#L3)\n\n${text}\n\n#### Properties\n\n##### id\n\n> **id**: \`string\`\n`;
}

/** As typedoc writes them: the main entry point is a README without a name. */
function written(count: number): Map<string, string> {
  const many = Array.from({ length: count }, (_, n) =>
    member(`Thing${n}`, `${n % 2 === 0 ? 'training' : 'sampling'}/thing-${n}.ts`, `Is number ${n}. And more.`),
  );
  return new Map([
    ['@tinkex/clients/index.md', '# @tinkex/clients\n\n## Modules\n\n- [](README.md)'],
    ['@tinkex/clients/README.md', `# \n\n## Interfaces\n\n${many.join('\n')}`],
    [
      '@tinkex/clients/extra.md',
      `# extra\n\n## Functions\n\n${member('help()', 'extra/help.ts', 'Helps with [Thing1](README.md#thing1), by [its id](README.md#id-1).')}`,
    ],
    ['@tinkex/types.md', `# @tinkex/types\n\n## Variables\n\n${member('ONE', 'one.ts', 'Is `1`.')}`],
  ]);
}

function textOf(pages: ReturnType<typeof apiPages>, file: string): string {
  return [...pages.values()].flat().find((page) => page.file === file)?.text ?? '';
}

it('gives a package with many names an entry page by topic and a page per topic, and leads links there', () => {
  const pages = apiPages(written(40), [one('types'), one('clients')]);
  expect(pages.get('@tinkex/clients')?.map(({ file, label }) => [file, label])).toEqual([
    ['@tinkex/clients/index.md', '@tinkex/clients'],
    ['@tinkex/clients/topics/sampling.md', 'Sampling'],
    ['@tinkex/clients/topics/training.md', 'Training'],
    ['@tinkex/clients/extra.md', '@tinkex/clients/extra'],
  ]);
  const entry = textOf(pages, '@tinkex/clients/index.md');
  expect(entry).toContain('All of clients.');
  expect(entry).toContain('| [Thing1](./topics/sampling.md#thing1) | interface | Is number 1. |');
  expect(entry).not.toContain('And more.');
  const topic = textOf(pages, '@tinkex/clients/topics/sampling.md');
  expect(topic).toContain('### Thing1 {#thing1}');
  expect(topic).toContain(
    '[packages/clients/src/sampling/thing-1.ts:3](https://github.com/tinkex/tinkex-ts/blob/main/packages/clients/src/sampling/thing-1.ts#L3)',
  );
  expect(topic).not.toContain('### Thing2 ');
  const extra = textOf(pages, '@tinkex/clients/extra.md');
  expect(extra).toContain('# @tinkex/clients/extra {#page-top}');
  expect(extra).toContain('[Thing1](./topics/sampling.md#thing1), by [its id](./topics/sampling.md#id-1)');
});

it('keeps a small package on one page, with its overview', () => {
  const pages = apiPages(written(1), [one('types'), one('clients')]);
  expect(pages.get('@tinkex/types')).toHaveLength(1);
  const page = textOf(pages, '@tinkex/types/index.md');
  expect(page).toContain('| [ONE](#one) | constant | Is `1`. |');
  expect(page).toContain('### ONE {#one}');
});
