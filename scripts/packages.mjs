/**
 * What the manifests say about the packages of this workspace: their order, what each may import, what a user installs, what is published.
 * Every list of packages in the repository comes from here; a new package is found by its folder. Plain JavaScript, because `npm test` needs it
 * before anything is installed, and the configuration files of tools cannot import TypeScript.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root directory, without a trailing separator. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/**
 * @typedef {object} EntryPoint
 * @property {string} subpath `.` or `./otel`
 * @property {string} specifier what a user imports: `@tinkex/telemetry/otel`
 * @property {string} source relative to the package: `./src/otel/index.ts`
 * @property {string} types the built declaration file, relative to the package
 *
 * @typedef {object} WorkspacePackage
 * @property {string} name of its folder: `types`
 * @property {string} id its name in the registry: `@tinkex/types`
 * @property {string} folder relative to the root: `packages/types`
 * @property {string} dir absolute
 * @property {Record<string, any>} manifest
 * @property {boolean} isPublished
 * @property {readonly string[]} dependencies names of the workspace packages that its sources import
 * @property {readonly string[]} testDependencies names of those that only its tests import
 * @property {readonly EntryPoint[]} entries without `./package.json`
 * @property {readonly string[]} commands that it installs; they are in `publishConfig`, because before a build there is nothing to link
 * @property {boolean} needsNode whether its declarations mention Node's types, by `compilerOptions.types` of its tsconfig
 */

/** All packages, each after those that it depends on (tests included), otherwise by folder. @returns {WorkspacePackage[]} */
export function workspacePackages() {
  const found = workspaceFolders().map((folder) => ({ folder, manifest: readJson(join(root, folder, 'package.json')) }));
  const nameOf = new Map(found.map(({ folder, manifest }) => [manifest.name, folder.slice(folder.lastIndexOf('/') + 1)]));
  /** @param {Record<string, string>[]} fields */
  const siblings = (...fields) => fields.flatMap((field) => Object.keys(field ?? {}).flatMap((id) => nameOf.get(id) ?? []));
  return inLayerOrder(
    found.map(({ folder, manifest }) => ({
      name: /** @type {string} */ (nameOf.get(manifest.name)),
      id: manifest.name,
      folder,
      dir: join(root, folder),
      manifest,
      isPublished: manifest.private !== true,
      dependencies: siblings(manifest.dependencies, manifest.peerDependencies),
      testDependencies: siblings(manifest.devDependencies),
      entries: entriesOf(manifest),
      commands: Object.keys(manifest.publishConfig?.bin ?? {}),
      needsNode: needsNode(join(root, folder)),
    })),
  );
}

/** The packages that go to the registry, each after those that it depends on. */
export function publishedPackages() {
  return workspacePackages().filter(({ isPublished }) => isPublished);
}

/**
 * A package with everything it depends on, directly or not, in layer order.
 * @param {WorkspacePackage} one
 * @param {readonly WorkspacePackage[]} packages
 */
export function withDependencies(one, packages) {
  const wanted = new Set([one.name]);
  for (const { name, dependencies } of packages.toReversed()) {
    if (wanted.has(name)) for (const dependency of dependencies) wanted.add(dependency);
  }
  return packages.filter(({ name }) => wanted.has(name));
}

/**
 * The packages that must be released again when `one` is.
 * @param {WorkspacePackage} one
 * @param {readonly WorkspacePackage[]} packages
 */
export function dependentsOf(one, packages) {
  return packages.filter((other) => other.name !== one.name && withDependencies(other, packages).some(({ name }) => name === one.name));
}

/** The TypeScript that compiles the packages; the one at the root is older, for tools that need its API. */
export const TSC = join(root, 'packages/types/node_modules/.bin/tsc');

function workspaceFolders() {
  const list = /^packages:\n((?: {2}- .*\n)+)/m.exec(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'))?.[1] ?? '';
  const patterns = [...list.matchAll(/- (\S+)/g)].map(([, pattern = '']) => pattern);
  return patterns
    .flatMap((pattern) => {
      if (!pattern.endsWith('/*')) return [pattern];
      const parent = pattern.slice(0, -'/*'.length);
      return existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => `${parent}/${name}`) : [];
    })
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .sort();
}

/** @param {WorkspacePackage[]} packages */
function inLayerOrder(packages) {
  /** @type {WorkspacePackage[]} */
  const ordered = [];
  const rest = new Set(packages);
  while (rest.size > 0) {
    const done = new Set(ordered.map(({ name }) => name));
    const next = [...rest].find(({ dependencies, testDependencies }) =>
      [...dependencies, ...testDependencies].every((name) => done.has(name)),
    );
    if (next === undefined) throw new Error(`These packages depend on each other: ${[...rest].map(({ id }) => id).join(', ')}.`);
    ordered.push(next);
    rest.delete(next);
  }
  return ordered;
}

/** @param {Record<string, any>} manifest @returns {EntryPoint[]} */
function entriesOf({ name, exports = {} }) {
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string'
      ? []
      : [{ subpath, specifier: `${name}${subpath.slice(1)}`, source: target['@tinkex/source'], types: target.types }],
  );
}

/** @param {string} dir */
function needsNode(dir) {
  const file = join(dir, 'tsconfig.json');
  return existsSync(file) && (readJson(file).compilerOptions?.types ?? []).includes('node');
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
