import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOrThrow } from '../gates/command.js';
import { publishedPackages } from '../packages.mjs';

/** Writes the API reference as pages of the site: one per entry point of each package, and an overview per package. The packages must be built. */
export async function writeApi(folder: string, program: string): Promise<void> {
  const plugin = join(program, 'node_modules/typedoc-plugin-markdown/dist/index.js');
  const options = {
    ...{ plugin, out: join(folder, 'api'), readme: 'none', router: 'module', outputFileStrategy: 'modules', entryFileName: 'index' },
    ...{ hidePageHeader: 'true', sanitizeComments: 'true', useHTMLEncodedBrackets: 'true', expandParameters: 'true' },
  };
  await commandOrThrow(
    'typedoc',
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  );
  writeFileSync(join(folder, '.vitepress/api-sidebar.json'), JSON.stringify(sidebar(join(folder, 'api')), null, 2));
}

function sidebar(api: string) {
  const groups = publishedPackages().map(({ id }) => {
    const [scope = '', name = ''] = id.includes('/') ? id.split('/') : ['', id];
    const folder = readdirSync(join(api, scope), { withFileTypes: true }).find((entry) => entry.name === name);
    const link = `/api/${id}`;
    if (folder?.isDirectory() !== true) return { text: id, link };
    const modules = readdirSync(join(api, id)).filter((file) => file.endsWith('.md') && file !== 'README.md');
    const items = modules.sort().map((file) => ({
      text: file === 'index.md' ? id : `${id}/${file.slice(0, -3)}`,
      link: `${link}/${file === 'index.md' ? '' : file.slice(0, -3)}`,
    }));
    return { text: id, items };
  });
  return groups;
}
