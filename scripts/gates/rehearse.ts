/**
 * Rehearses a release with a real registry on loopback: publishes all packages by the commands of a release, installs each into empty projects, runs the
 * programs of its README there, builds the testkit's container image, patches one package, releases again, and checks who moved. By default each package is installed by one package manager;
 * `--all` tries every manager with every package.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runSnippet } from '../docs/run-snippet.js';
import { findSnippets } from '../docs/snippets.js';
import { dependentsOf, publishedPackages, root, type WorkspacePackage, withDependencies } from '../packages.mjs';
import { containerProblems } from '../release/container-image.js';
import { installProject, MANAGERS, type Manager } from '../release/install-project.js';
import { startLocalRegistry } from '../release/local-registry.js';
import { Rehearsal } from '../release/rehearsal.js';
import { writeSboms } from '../release/sbom.js';
import { fillToolbox } from '../runtimes/toolbox.js';
import { commandOrThrow } from './command.js';
import { inParallel } from './in-parallel.js';
import { temporaryFolder } from './temporary-folder.js';
import { verdict } from './verdict.js';

/** In the middle of the layers: some packages depend on it, some do not. */
const PATCHED = '@tinkex/telemetry';

const packages = publishedPackages();
const projects = temporaryFolder('apps');
const snippets = findSnippets(root);
const [registry] = await Promise.all([startLocalRegistry(packages.map(({ id }) => id)), fillToolbox()]);
const rehearsal = await Rehearsal.prepare(registry);
const problems: string[] = [];

const firstTags = await rehearsal.release();
const first = await rehearsal.published();
for (const { id } of packages) {
  const version = first.get(id);
  if (version === undefined) problems.push(`${id} was not published`);
  else if (!firstTags.includes(`${id}@${version}`)) problems.push(`${id}@${version} has no tag`);
}
console.log(`published ${[...first].map(([id, version]) => `${id} ${version}`).join(', ')}`);

const installs = packages.flatMap((one, index) => {
  const rotated = MANAGERS[index % MANAGERS.length] as Manager;
  return (process.argv.includes('--all') ? MANAGERS : [rotated]).map((manager) => ({ one, manager }));
});
problems.push(...(await inParallel(installs, useRelease)).flat());
problems.push(...(await containerProblems(registry.url)));

const patched = packages.find(({ id }) => id === PATCHED) as WorkspacePackage;
const user = dependentsOf(patched, packages)[0] as WorkspacePackage;
const app = join(projects, 'app-with-ranges');
await installProject(app, 'npm', { [user.id]: `^${first.get(user.id)}` }, registry);
for (const [id, count] of await writeSboms(packages, first, registry)) console.log(`bill of materials of ${id}: ${count} components`);
await rehearsal.patch(patched);
await rehearsal.release();
problems.push(...(await movedProblems()), ...(await receivedProblems()));
registry.close();
verdict('release:rehearse', `${packages.length} packages released twice, ${installs.length} projects`, problems);

/** Installs a package with what the programs of its README import, and runs them. */
async function useRelease({ one, manager }: { readonly one: WorkspacePackage; readonly manager: Manager }): Promise<string[]> {
  const directory = join(projects, `${one.name}-${manager}`);
  const programs = snippets.filter(({ file, isRun }) => isRun && file === `${one.folder}/README.md`);
  const code = programs.map(({ code }) => code);
  const dependencies = { [one.id]: `^${first.get(one.id)}`, ...importedBy(code), ...peersFor(one, code) };
  try {
    await installProject(directory, manager, dependencies, registry);
    const failures = (await Promise.all(programs.map((program) => runSnippet(program, directory)))).flat();
    console.log(`${one.id} by ${manager}: ${programs.length - failures.length} of ${programs.length} programs of its README`);
    return failures.map((failure) => `${one.id} by ${manager}: ${failure}`);
  } catch (error) {
    return [`${one.id} by ${manager}: ${error instanceof Error ? error.message : error}`];
  }
}

/** The packages that programs import: ours by their new version, others by the version of the workspace. */
function importedBy(programs: readonly string[]): Record<string, string> {
  const specifiers = programs.flatMap((code) =>
    [...code.matchAll(/\bfrom '([^'.][^']*)'|\bimport\('([^'.][^']*)'\)/g)].map((match) => match[1] ?? match[2] ?? ''),
  );
  const names = new Set(specifiers.filter((name) => !name.startsWith('node:')).map(packageOf));
  return Object.fromEntries([...names].map((name) => [name, first.has(name) ? `^${first.get(name)}` : workspaceVersion(name)]));
}

/** The optional peers of a package, if its programs import a sub-path: that is where they are needed. */
function peersFor({ id, manifest }: WorkspacePackage, programs: readonly string[]): Record<string, string> {
  if (!programs.some((code) => code.includes(`'${id}/`))) return {};
  const peers = Object.keys(manifest['peerDependencies'] ?? {}).filter((name) => !first.has(name));
  return Object.fromEntries(peers.map((name) => [name, workspaceVersion(name)]));
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function workspaceVersion(name: string): string {
  for (const { dir } of packages) {
    try {
      return JSON.parse(readFileSync(join(dir, 'node_modules', name, 'package.json'), 'utf8')).version;
    } catch {
      // Another package has it.
    }
  }
  throw new Error(`A README imports ${name}, which no package of the workspace depends on.`);
}

/** A patch moves its package and those that depend on it, and nothing else. */
async function movedProblems(): Promise<string[]> {
  const second = await rehearsal.published();
  const moved = packages.filter(({ id }) => second.get(id) !== first.get(id)).map(({ id }) => id);
  const wanted = [patched, ...dependentsOf(patched, packages)].map(({ id }) => id);
  console.log(`a patch of ${PATCHED} moved ${moved.join(', ')}`);
  return moved.toSorted().join() === wanted.toSorted().join()
    ? []
    : [`a patch of ${PATCHED} moved ${moved.join(', ')}, not ${wanted.join(', ')}`];
}

/** An app that has a dependent by a caret range receives the patch by an update. */
async function receivedProblems(): Promise<string[]> {
  await commandOrThrow('npm', ['update', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--prefer-online'], {
    cwd: app,
  });
  const wanted = await registry.latest(PATCHED);
  const { version } = JSON.parse(readFileSync(join(app, 'node_modules', PATCHED, 'package.json'), 'utf8'));
  if (!withDependencies(user, packages).includes(patched)) return [`${user.id} does not depend on ${PATCHED}`];
  return version === wanted ? [] : [`an app with ${user.id} has ${PATCHED} ${version} after an update, not ${wanted}`];
}
