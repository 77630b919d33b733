import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandOrThrow } from '../gates/command.js';
import { publishedPackages } from '../packages.mjs';
import { apiHome, apiPages, type DocumentedPackage } from './api-pages.js';

/** The theme's style sheet knows the pages of the reference by this class. */
const FRONT_MATTER = '---\npageClass: api\n---\n\n';

/** Writes the API reference as pages of the site, and its sidebar. The packages must be built. */
export async function writeApi(folder: string, program: string): Promise<void> {
  const api = join(folder, 'api');
  const plugin = join(program, 'node_modules/typedoc-plugin-markdown/dist/index.js');
  const options = {
    ...{ plugin, out: api, readme: 'none', router: 'module', outputFileStrategy: 'modules', entryFileName: 'index' },
    ...{ hidePageHeader: 'true', sanitizeComments: 'true', useHTMLEncodedBrackets: 'true', expandParameters: 'true' },
  };
  await commandOrThrow(
    'typedoc',
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  );
  const packages = documentedPackages();
  const pages = apiPages(markdownFiles(api), packages);
  rmSync(api, { recursive: true });
  const home = { file: 'index.md', text: apiHome(packages) };
  for (const { file, text } of [home, ...[...pages.values()].flat()]) write(join(api, file), `${FRONT_MATTER}${text}\n`);
  const sidebar = [...pages].map(([id, [, ...parts]]) => ({
    text: id,
    link: `/api/${id}/`,
    collapsed: true,
    items: parts.map(({ file, label }) => ({ text: label, link: `/api/${file.replace(/\.md$/, '')}` })),
  }));
  write(join(folder, '.vitepress/api-sidebar.json'), JSON.stringify(sidebar, null, 2));
}

function documentedPackages(): DocumentedPackage[] {
  return publishedPackages().map(({ id, dir, folder, manifest }) => {
    const index = readFileSync(join(dir, 'src/index.ts'), 'utf8');
    const siblings = [...index.matchAll(/from '(@tinkex\/[^'/]+)/g)].map(([, name = '']) => name);
    return {
      ...{ id, folder, description: String(manifest['description'] ?? '') },
      has: (file) => existsSync(join(dir, file)),
      alsoExports: [...new Set(siblings)],
    };
  });
}

function markdownFiles(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
  return new Map(files.map((file) => [file.replaceAll('\\', '/'), readFileSync(join(folder, file), 'utf8')]));
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
