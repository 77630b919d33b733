import { existsSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const REPOSITORY = 'https://github.com/tinkex/tinkex-ts';
const OWN = new RegExp(`^${REPOSITORY}/(?:blob|tree)/main/([^#]*)`);
const LINK = /(!?\[(?:[^\]\\]|\\.)*\]\(\s*)([^)\s]+)/g;

/** Where the links of a page lead on the site. */
export interface LinkTargets {
  /** From files of the repository to pages of the site. */
  readonly pages: ReadonlyMap<string, string>;
  /** Called for each picture that a page shows; gives the address of its copy. */
  readonly picture: (file: string) => string;
}

/**
 * Rewrites the links of one line: to a page of the site where there is one, to the repository otherwise. Addresses elsewhere and anchors stay.
 * @param source - The file that has the line, from the root of the repository.
 * @param target - The page that it becomes.
 */
export function siteLinks(line: string, source: string, target: string, baseDir: string, { pages, picture }: LinkTargets): string {
  return line.replace(LINK, (whole, before: string, link: string) => {
    const own = OWN.exec(link);
    if (own === null && /^(?:[a-z][a-z0-9+.-]*:|#|\/\/)/i.test(link)) return whole;
    const [path = '', anchor] = (own === null ? link : `/${link.slice(own[0].length - (own[1]?.length ?? 0))}`).split('#', 2);
    const file = path.startsWith('/') ? posix.normalize(path.slice(1)) : posix.join(posix.dirname(source), path);
    if (/\.(?:png|svg|gif|jpg)$/.test(file) && existsSync(join(baseDir, file))) return before + picture(file);
    const page = pages.get(file) ?? pages.get(posix.join(file, 'README.md'));
    const suffix = anchor === undefined ? '' : `#${anchor}`;
    if (page !== undefined) return `${before}${relativeLink(target, page)}${suffix}`;
    const isFolder = existsSync(join(baseDir, file)) && statSync(join(baseDir, file)).isDirectory();
    return `${before}${REPOSITORY}/${isFolder ? 'tree' : 'blob'}/main/${file.replace(/\/$/, '')}${suffix}`;
  });
}

function relativeLink(from: string, to: string): string {
  const path = posix.relative(dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}
