import { dirname, posix } from 'node:path';
import { headingSlug } from '../docs/markdown.js';

/** A package whose reference is written. */
export interface DocumentedPackage {
  readonly id: string;
  readonly description: string;
  /** Whether a file of the repository exists, by its path in the package. */
  readonly has: (file: string) => boolean;
  /** Its folder in the repository: `packages/types`. */
  readonly folder: string;
  /** Sibling packages some of whose names it exports too. */
  readonly alsoExports: readonly string[];
}

/** A page of the reference, and what the sidebar calls it. */
export interface ApiPage {
  readonly file: string;
  readonly label: string;
  readonly text: string;
}

/** One exported name, as typedoc wrote it: its heading and everything below. */
interface Member {
  readonly name: string;
  readonly kind: string;
  readonly slug: string;
  /** The folder of the source that defines it: `training`. */
  readonly topic: string;
  readonly summary: string;
  readonly lines: readonly string[];
}

/** The file of one entry point, as typedoc wrote it. */
interface Module {
  readonly specifier: string;
  readonly source: string;
  readonly members: readonly Member[];
}

const REPOSITORY = 'https://github.com/tinkex/tinkex-ts/blob/main/';
const KINDS: Readonly<Record<string, string>> = {
  ...{ Classes: 'class', Interfaces: 'interface', 'Type Aliases': 'type', Functions: 'function' },
  ...{ Variables: 'constant', Enumerations: 'enumeration', Namespaces: 'namespace' },
};
/** A module with more names than this gets one page per topic. */
const NAMES_ON_A_PAGE = 30;

/**
 * The pages of the API reference, made of typedoc's: an entry page per package with everything it exports by topic, and a page per topic or entry point. typedoc puts
 * a whole package on one page without a name.
 *
 * @param written - typedoc's files by their paths.
 */
export function apiPages(written: ReadonlyMap<string, string>, packages: readonly DocumentedPackage[]): Map<string, ApiPage[]> {
  const parsed = packages.map((one) => ({ one, modules: modulesOf(one, written) }));
  /** Where each heading of each of typedoc's files stands now. */
  const places = new Map<string, string>();
  for (const { one, modules } of parsed) {
    for (const module of modules) {
      for (const member of module.members) {
        for (const slug of slugsOf(member)) places.set(`${module.source}#${slug}`, pageOf(one, module, member));
      }
      places.set(module.source, pageOf(one, module));
    }
    places.set(`${one.id}/index.md`, `${one.id}/index.md`);
  }
  places.set('index.md', 'index.md');
  return new Map(parsed.map(({ one, modules }) => [one.id, pagesOf(one, modules, places)]));
}

/** The page that leads to the packages. */
export function apiHome(packages: readonly DocumentedPackage[]): string {
  const rows = packages.map(({ id, description }) => `| [${id}](./${id}/index.md) | ${description} |`);
  return `# API reference\n\nEverything that the packages export, from their sources.\n\n| package | for |\n|---|---|\n${rows.join('\n')}\n`;
}

function modulesOf({ id, folder, has }: DocumentedPackage, written: ReadonlyMap<string, string>): Module[] {
  const alone = written.get(`${id}.md`);
  const files =
    alone === undefined ? [...written.keys()].filter((file) => dirname(file) === id && !file.endsWith('/index.md')) : [`${id}.md`];
  const modules = files.map((source) => {
    const name = posix.basename(source, '.md');
    const isMain = alone !== undefined || name === 'README';
    return { specifier: isMain ? id : `${id}/${name}`, source, members: membersOf(written.get(source) ?? '', (path) => located(path)) };
  });
  return modules.sort((one, other) => one.specifier.length - other.specifier.length || (one.specifier < other.specifier ? -1 : 1));

  function located(path: string): string {
    const inside = [`src/${path}`, path].find(has);
    return inside === undefined ? path : `${folder}/${inside}`;
  }
}

function membersOf(text: string, located: (path: string) => string): Member[] {
  const members: { name: string; kind: string; slug: string; lines: string[] }[] = [];
  const slugs = new Map<string, number>();
  let kind = '';
  let isCode = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode ? null : /^(#+) (.*)$/.exec(line);
    const [, marks = '', title = ''] = heading ?? [];
    const slug = heading === null ? '' : numbered(headingSlug(title.replaceAll('\\', '')), slugs);
    if (marks === '##') kind = title;
    else if (marks === '###') members.push({ name: title, kind, slug, lines: [`${line} {#${slug}}`] });
    else if (marks !== '#')
      members
        .at(-1)
        ?.lines.push(heading === null ? line.replace(DEFINED, (_, path, at) => definedIn(located(path), at)) : `${line} {#${slug}}`);
  }
  return members
    .filter((member) => KINDS[member.kind] !== undefined)
    .map((member) => ({ ...member, topic: topicOf(member.lines), summary: summaryOf(member.lines) }));
}

const DEFINED = /^Defined in: \[([^\]]+?):(\d+)\]\([^)]*\)/;

function definedIn(path: string, line: string): string {
  return `Defined in: [${path}:${line}](${REPOSITORY}${path}#L${line})`;
}

function numbered(slug: string, seen: Map<string, number>): string {
  const count = seen.get(slug) ?? 0;
  seen.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

/** `training` for `packages/clients/src/training/training-client.ts`. */
function topicOf(lines: readonly string[]): string {
  const path = lines.map((line) => DEFINED.exec(line)?.[1]).find((found) => found !== undefined) ?? '';
  const [folder = '', file] = path.replace(/^packages\/[^/]+\/src\//, '').split('/');
  return file === undefined ? 'general' : folder;
}

/** The first sentence about it. */
function summaryOf(lines: readonly string[]): string {
  const isText = (line: string): boolean => line !== '' && !/^(?:[#>|*-]|```|Defined in:)/.test(line);
  const begin = lines.findIndex((line, at) => at > 0 && isText(line));
  const firstHeading = lines.findIndex((line, at) => at > 0 && line.startsWith('#'));
  if (begin < 0 || (firstHeading >= 0 && firstHeading < begin)) return '';
  const end = lines.findIndex((line, at) => at > begin && line === '');
  const paragraph = lines.slice(begin, end < 0 ? undefined : end).join(' ');
  return (/^.*?[.:](?= [A-Z`[]|$)/.exec(paragraph)?.[0] ?? paragraph).replace(/:$/, '.').replaceAll('|', '\\|');
}

function slugsOf({ lines }: Member): string[] {
  return lines.flatMap((line) => /^#+ .* \{#(\S*)\}$/.exec(line)?.[1] ?? []);
}

/** One page per topic if there are many names; otherwise they stand on the page of their entry point. */
function pageOf({ id }: DocumentedPackage, { specifier, members }: Module, member?: Member): string {
  const isMain = specifier === id;
  if (isMain) return member === undefined || members.length <= NAMES_ON_A_PAGE ? `${id}/index.md` : `${id}/topics/${member.topic}.md`;
  return `${specifier}.md`;
}

function pagesOf(one: DocumentedPackage, modules: readonly Module[], places: ReadonlyMap<string, string>): ApiPage[] {
  const [main, ...others] = modules;
  if (main === undefined) throw new Error(`typedoc wrote nothing about ${one.id}.`);
  const file = `${one.id}/index.md`;
  const isSplit = main.members.length > NAMES_ON_A_PAGE;
  const entry = [
    `[API reference](${link(file, 'index.md')}) / ${one.id}`,
    `# ${one.id} {#page-top}`,
    one.description,
    `How to use it: [${one.id}](${link(`api/${file}`, `packages/${one.id.split('/').at(-1)}.md`)}).`,
    ...others.map(
      ({ specifier, members }) =>
        `\`${specifier}\` is a separate entry point: [${countOf(members.length)}](${link(file, `${specifier}.md`)}).`,
    ),
    ...one.alsoExports.map((id) => `It also exports names of [${id}](${link(file, `${id}/index.md`)}), which are described there.`),
    overview(main, file, places),
    ...(isSplit ? [] : [details(main, main.members, file, places)]),
  ];
  const topics = isSplit ? topicsOf(main) : [];
  return [
    { file, label: one.id, text: entry.join('\n\n') },
    ...topics.map((topic) => {
      const page = `${one.id}/topics/${topic}.md`;
      const members = main.members.filter((member) => member.topic === topic);
      return {
        file: page,
        label: titleOf(topic),
        text: [head(page, one, `${one.id}: ${topic}`), details(main, members, page, places)].join('\n\n'),
      };
    }),
    ...others.map((module) => {
      const page = `${module.specifier}.md`;
      return {
        file: page,
        label: module.specifier,
        text: [head(page, one, module.specifier), details(module, module.members, page, places)].join('\n\n'),
      };
    }),
  ];
}

function head(page: string, { id }: DocumentedPackage, title: string): string {
  return `[API reference](${link(page, 'index.md')}) / [${id}](${link(page, `${id}/index.md`)})\n\n# ${title} {#page-top}`;
}

function countOf(names: number): string {
  return names === 1 ? '1 name' : `${names} names`;
}

function topicsOf({ members }: Module): string[] {
  return [...new Set(members.map(({ topic }) => topic))].sort();
}

function titleOf(topic: string): string {
  return topic.charAt(0).toUpperCase() + topic.slice(1).replaceAll('-', ' ');
}

/** All names by topic, each with what it is for. */
function overview(module: Module, page: string, places: ReadonlyMap<string, string>): string {
  const isOneTopic = topicsOf(module).length === 1;
  return topicsOf(module)
    .map((topic) => {
      const rows = module.members
        .filter((member) => member.topic === topic)
        .map(({ name, kind, slug, summary }) => {
          const place = places.get(`${module.source}#${slug}`) ?? page;
          const target = `${place === page ? '' : link(page, place)}#${slug}`;
          return `| [${name}](${target}) | ${KINDS[kind]} | ${relinked(summary, module.source, page, places)} |`;
        });
      return `## ${isOneTopic ? 'Exports' : titleOf(topic)} {#topic-${topic}}\n\n| name | kind | what it is |\n|---|---|---|\n${rows.join('\n')}`;
    })
    .join('\n\n');
}

/** The members in full, by kind. */
function details(module: Module, members: readonly Member[], page: string, places: ReadonlyMap<string, string>): string {
  return Object.keys(KINDS)
    .map((kind) => ({ kind, those: members.filter((member) => member.kind === kind) }))
    .filter(({ those }) => those.length > 0)
    .map(
      ({ kind, those }) =>
        `## ${kind} {#kind-${headingSlug(kind)}}\n\n${those.map(({ lines }) => relinked(lines.join('\n'), module.source, page, places)).join('\n')}`,
    )
    .join('\n\n');
}

const LINK = /\]\(([^)\s#:]*)(#[^)\s]*)?\)/g;

/** Links of typedoc's files, led to where their targets stand now. */
function relinked(text: string, source: string, page: string, places: ReadonlyMap<string, string>): string {
  return text.replace(LINK, (whole, path: string, anchor = '') => {
    const file = path === '' ? source : posix.join(dirname(source), path);
    const place = places.get(`${file}${anchor}`) ?? places.get(file);
    if (place === undefined) return whole;
    return `](${place === page ? '' : link(page, place)}${anchor})`;
  });
}

function link(from: string, to: string): string {
  const path = posix.relative(dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}
