/**
 * Gate: what would be published is well formed (publint), its types resolve as they should (are-the-types-wrong, ESM-only profile), its manifest keeps
 * the rules of this repository, and every version of the catalog has its reason written down.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestProblems } from '../manifests/rules.js';
import { publishedPackages, root, workspacePackages } from '../packages.mjs';
import { command } from './command.js';
import { inParallel } from './in-parallel.js';
import { packAll } from './pack.js';
import { verdict } from './verdict.js';

const CHECKS: readonly (readonly [string, readonly string[]])[] = [
  ['publint', ['run', '--strict']],
  ['attw', ['--profile', 'esm-only', '--format', 'ascii', '--no-emoji', '--no-color']],
];

const packed = await packAll();
const runs = [...packed].flatMap(([id, tarball]) => CHECKS.map(([tool, args]) => ({ id, tool, args: [...args, tarball] })));
const problems = await inParallel(runs, async ({ id, tool, args }) => {
  const { code, output } = await command(tool, args);
  return code === 0 ? [] : [`${tool} on ${id}:\n${output.trim()}`];
});
const siblings = new Set(workspacePackages().map(({ id }) => id));
const manifests = publishedPackages().flatMap(({ id, manifest }) =>
  manifestProblems(manifest, read('package.json'), siblings).map((problem) => `${id}: ${problem}`),
);
verdict('check:packages', `${packed.size} packages, ${CHECKS.map(([tool]) => tool).join(' and ')}`, [
  ...manifests,
  ...unexplained(),
  ...problems.flat(),
]);

function read(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

/** Names in the catalog that `docs/decisions/dependencies.md` does not mention. */
function unexplained(): string[] {
  const catalog = /^catalog:\n((?: {2}.*\n)+)/m.exec(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'))?.[1] ?? '';
  const names = [...catalog.matchAll(/^ {2}'?([^':]+)'?:/gm)].map(([, name = '']) => name);
  const reasons = readFileSync(join(root, 'docs/decisions/dependencies.md'), 'utf8');
  return names.length === 0
    ? ['the catalog was not found']
    : names.filter((name) => !reasons.includes(name)).map((name) => `${name} has no line in docs/decisions/dependencies.md`);
}
