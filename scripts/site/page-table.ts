import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages, root } from '../packages.mjs';

/** A file of the repository that is a page of the site. */
export interface Page {
  /** The Markdown or TypeScript file, from the root. */
  readonly source: string;
  /** Where it stands on the site: `guides/training.md`. */
  readonly target: string;
  readonly title: string;
  /** The heading above it in the sidebar, where its section has several. */
  readonly group?: string | undefined;
}

/** A part of the site, with its pages in reading order. */
export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** Everything on the site except the home page and the API reference. The order of the guides is that of their table of contents. */
export function siteSections(): Section[] {
  return [
    { title: 'Guides', pages: guides() },
    { title: 'Packages', pages: publishedPackages().map(({ name, id, folder }) => page(`${folder}/README.md`, `packages/${name}.md`, id)) },
    { title: 'Examples', pages: [page('apps/examples/README.md', 'examples/index.md', 'All examples'), ...examples()] },
    { title: 'Protocol', pages: folderOf('docs/protocol', 'protocol') },
    {
      title: 'Project',
      pages: [
        page('ARCHITECTURE.md', 'project/architecture.md'),
        page('CONTRIBUTING.md', 'project/contributing.md'),
        page('SECURITY.md', 'project/security.md'),
        ...folderOf('docs/contributing', 'project'),
      ],
    },
    { title: 'Decisions', pages: folderOf('docs/decisions', 'decisions') },
  ];
}

function guides(): Page[] {
  const contents = readFileSync(join(root, 'docs/guides/README.md'), 'utf8');
  const listed = contents.split(/^## /m).flatMap((part) => {
    const [group] = part.split('\n', 1);
    return [...part.matchAll(/\]\(([a-z0-9-]+\.md)\)/g)].map(([, file = '']) => ({
      ...page(`docs/guides/${file}`, `guides/${file}`),
      group,
    }));
  });
  const files = readdirSync(join(root, 'docs/guides')).filter((file) => file.endsWith('.md') && file !== 'README.md');
  const unlisted = files.filter((file) => !listed.some(({ source }) => source.endsWith(`/${file}`)));
  if (unlisted.length > 0) throw new Error(`docs/guides/README.md does not list ${unlisted.join(', ')}.`);
  return [page('docs/guides/README.md', 'guides/index.md', 'All guides'), ...listed];
}

function examples(): Page[] {
  const files = readdirSync(join(root, 'apps/examples/src')).filter((file) => file.endsWith('.ts'));
  return files
    .sort()
    .map((file) => page(`apps/examples/src/${file}`, `examples/${file.replace(/\.ts$/, '.md')}`, file.replace(/\.ts$/, '')));
}

function folderOf(folder: string, target: string): Page[] {
  if (!existsSync(join(root, folder))) return [];
  const files = readdirSync(join(root, folder)).filter((file) => file.endsWith('.md'));
  return files.sort().map((file) => page(`${folder}/${file}`, `${target}/${file === 'README.md' ? 'index.md' : file}`));
}

function page(source: string, target: string, title = headingOf(source)): Page {
  return { source, target, title };
}

function headingOf(source: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(join(root, source), 'utf8'))?.[1];
  if (heading === undefined) throw new Error(`${source} has no heading.`);
  return heading.replaceAll('`', '');
}
