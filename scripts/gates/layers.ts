/**
 * Gate: packages import downwards, by name, and nothing that belongs to another layer (the rules are in `.dependency-cruiser.mjs`), and what follows
 * from the manifests is up to date; `npm run format` rewrites it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkLayers } from '../layers/check-layers.js';
import { staleFiles } from '../manifests/derived.js';
import { publishedPackages, root, workspacePackages } from '../packages.mjs';
import { verdict } from './verdict.js';

const { modules, problems } = await checkLayers(root);
verdict('layers', `${modules} modules`, [
  ...problems.map(({ rule, from, to }) => `${rule}: ${from} -> ${to}`),
  ...staleFiles(root, workspacePackages()).map(({ file, problem }) => `${file}: ${problem}; npm run format`),
  ...unlisted(),
]);

/** Published packages without a row in ARCHITECTURE.md that says what they own. */
function unlisted(): string[] {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const without = publishedPackages().filter(({ id }) => !page.includes(`| \`${id}\` |`));
  return without.map(({ id }) => `${id} has no row in the table of ARCHITECTURE.md`);
}
