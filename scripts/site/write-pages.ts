import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { headingSlug, withoutCode } from '../docs/markdown.js';
import { root } from '../packages.mjs';
import { type Page, type Section, siteSections } from './page-table.js';
import { siteLinks } from './site-links.js';

const HOME = join(root, 'docs/site');
const HOME_PAGE: Page = { title: 'Tinkex for TypeScript', source: 'docs/site/index.md', target: 'index.md' };

/**
 * Writes the sources of the site: the home page and theme of `docs/site`, every page of the table with its links led to other pages, and the whole text for
 * language models (`llms.txt`, `llms-full.txt`).
 */
export function writePages(folder: string, sections: readonly Section[] = siteSections()): void {
  rmSync(folder, { recursive: true, force: true });
  cpSync(HOME, folder, { recursive: true });
  const pages = sections.flatMap((section) => section.pages);
  const targets = new Map(pages.map(({ source, target }) => [source, target]));
  targets.set('README.md', 'index.md');
  const picture = (file: string): string => {
    const copy = join(folder, 'public/pictures', file.replaceAll('/', '-'));
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(join(root, file), copy);
    return `/pictures/${file.replaceAll('/', '-')}`;
  };
  for (const one of [HOME_PAGE, ...pages]) {
    const markdown = markdownOf(one);
    const plain = withoutCode(markdown).split('\n');
    const lines = markdown.split(/\r?\n/).map((line, index) => {
      if (plain[index] === '' && line !== '') return line;
      // The picture beside the title of the first page is named in its front matter.
      const own = one === HOME_PAGE ? /^( +src: )(\S+)$/.exec(line) : null;
      if (own !== null) return `${own[1]}${picture(join(dirname(one.source), own[2] ?? ''))}`;
      return withAnchor(siteLinks(line, one.source, one.target, root, { pages: targets, picture }), plain[index] ?? '');
    });
    write(join(folder, one.target), lines.join('\n'));
  }
  write(join(folder, 'public/llms.txt'), index(sections));
  write(join(folder, 'public/llms-full.txt'), pages.map((one) => `<!-- ${one.source} -->\n\n${markdownOf(one)}`).join('\n\n'));
  write(join(folder, '.vitepress/sidebar.json'), JSON.stringify(Object.fromEntries(sections.map(sidebarOf)), null, 2));
}

/** An example is a page with its program. */
function markdownOf({ source, title }: Page): string {
  const text = readFileSync(join(root, source), 'utf8');
  if (extname(source) === '.md') return text;
  const about = /^\/\*\*\s*([\s\S]*?)\s*\*\//.exec(text)?.[1]?.replace(/\n \* ?/g, '\n') ?? '';
  return `# ${title}\n\n${about}\n\nRun it with \`npm start -- ${title}\` from a clone, or read it here:\n\n\`\`\`ts\n${text}\`\`\`\n`;
}

/** Headings get the names that GitHub gives them, so that a link works in both places. */
function withAnchor(line: string, plain: string): string {
  const heading = /^ {0,3}#{1,6}\s+(.+)$/.exec(line)?.[1];
  return heading === undefined || !/^ {0,3}#{1,6}\s/.test(plain) ? line : `${line} {#${headingSlug(heading)}}`;
}

function index(sections: readonly Section[]): string {
  const lists = sections.map(
    ({ title, pages }) => `## ${title}\n\n${pages.map((one) => `- [${one.title}](/${one.target.replace(/\.md$/, '.html')})`).join('\n')}`,
  );
  const summary = '> Fine-tune large language models with LoRA and sample from them, through the Tinker API, in ordinary async TypeScript.';
  return `# Tinkex for TypeScript\n\n${summary}\n\n${lists.join('\n\n')}\n\nThe whole text: [llms-full.txt](/llms-full.txt)\n`;
}

/** Each part of the site has its own sidebar. */
function sidebarOf({ title, pages }: Section) {
  const groups = [...new Set(pages.map(({ group }) => group ?? title))].map((text) => {
    const members = pages.filter(({ group }) => (group ?? title) === text);
    return { text, items: members.map((one) => ({ text: one.title, link: `/${one.target.replace(/(?:index)?\.md$/, '')}` })) };
  });
  return [`/${pages[0]?.target.split('/')[0]}/`, groups];
}

function write(file: string, content: string): void {
  if (!existsSync(dirname(file))) mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
