/**
 * Gate: the documentation site builds, without a dead link, and works in a real browser: every page loads without an error, the search finds, nothing is
 * inaccessible. `temp/site/dist` then has a folder for this minor version beside those of earlier ones, and a page that leads to the newest.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../packages.mjs';
import { findBrowser } from '../runtimes/browser.js';
import { fillToolbox } from '../runtimes/toolbox.js';
import { checkSite } from '../site/check-site.js';
import { versionsPage } from '../site/versions-page.js';
import { writeApi } from '../site/write-api.js';
import { writePages } from '../site/write-pages.js';
import { commandOrThrow } from './command.js';
import { installProgram } from './install-program.js';
import { build } from './pack.js';
import { skip, verdict } from './verdict.js';

const source = join(root, 'temp/site/source');
const output = join(root, 'temp/site/dist');
const version = minorVersion();

const program = await installProgram('docs-site', 'scripts/site/program');
writePages(source);
await build();
await writeApi(source, program);
// Folders of earlier versions that were put there stay.
rmSync(join(output, version), { recursive: true, force: true });
// The theme is found from the sources, like in a project that has VitePress installed.
symlinkSync(join(program, 'node_modules'), join(source, 'node_modules'), 'dir');
await commandOrThrow(join(program, 'node_modules/.bin/vitepress'), ['build', source, '--outDir', join(output, version)], {
  env: { TINKEX_SITE_BASE: `/${version}/` },
  timeoutMs: 600_000,
});
writeFileSync(
  join(output, 'index.html'),
  versionsPage(readdirSync(output, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))),
);

const problems: string[] = [];
await fillToolbox();
const browser = await findBrowser();
let examined = 'built';
if (browser === undefined) skip('site in a browser', 'none found; CHROME_PATH names one');
else {
  const pictures = join(root, 'temp/site/pictures');
  mkdirSync(pictures, { recursive: true });
  const checked = await checkSite({ folder: output, version, program, browser, pictures });
  problems.push(...checked.problems);
  examined = `${checked.pages} pages in ${browser.name}`;
}
verdict('docs:site', examined, problems);

/** One folder per minor version; before the first release it is `next`. */
function minorVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'packages/clients/package.json'), 'utf8')) as { version: string };
  return version === '0.0.0' ? 'next' : version.split('.').slice(0, 2).join('.');
}
