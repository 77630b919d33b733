import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { listFiles } from '../gates/files.js';
import { root, type WorkspacePackage } from '../packages.mjs';

const HARNESS = join(root, 'scripts/runtimes/harness.ts');
const ENTRY = '\0entry';
const NODE = '\0node:';
/** Colors of failed assertions: the library reads the environment, which Deno does not permit. */
const COLORS = '\0colors';
const VECTORS = join(root, 'vectors/read.ts');

/**
 * Writes the tests of a package as one file of plain ESM, vectors included, whose export `report` is a promise of what they found. The tests see the
 * package as it is installed: what they import of its entry points, of its dependencies and of other packages of ours stays an import. Returns these imports.
 *
 * @param pattern - Which files of the package are tests to run.
 */
export async function bundleTests(
  { dir, entries, manifest }: WorkspacePackage,
  file: string,
  pattern = /^(src|test)\/.*\.test\.ts$/,
): Promise<readonly string[]> {
  const installed = new Map(entries.map(({ source, specifier }) => [resolve(dir, source), specifier]));
  const siblings = Object.keys(manifest['devDependencies'] ?? {}).filter((name) => name.startsWith('@tinkex/'));
  const dependencies = [manifest['name'], ...siblings, ...Object.keys({ ...manifest['dependencies'], ...manifest['peerDependencies'] })];
  const tests = listFiles(dir, pattern);
  const program = `import { expect, it, runTests } from ${JSON.stringify(HARNESS)};
${entries.map(({ specifier }, index) => `import * as entry${index} from ${JSON.stringify(specifier)};`).join('\n')}
export const report = runTests({
  'entry points': () => it.each([${entries.map((_, index) => `entry${index}`).join(', ')}])('load', (entry) => expect(Object.keys(entry)).not.toEqual([])),
  ${tests.map((test) => `${JSON.stringify(test)}: () => import(${JSON.stringify(join(dir, test))})`).join(',\n  ')},
});`;
  const isDependency = (id: string): boolean => dependencies.some((name) => id === name || id.startsWith(`${name}/`));
  const plugin: Plugin = {
    name: 'tests-of-an-installed-package',
    resolveId(source, importer) {
      if (source === ENTRY) return ENTRY;
      if (source === 'vitest') return HARNESS;
      if (source === 'tinyrainbow') return COLORS;
      if (source.startsWith('node:') || source === 'rolldown') return `${NODE}${source}`;
      if (isDependency(source)) return { id: source, external: true };
      const target = importer === undefined ? '' : resolve(importer, '..', source).replace(/\.js$/, '.ts');
      const specifier = installed.get(target);
      return specifier === undefined ? undefined : { id: specifier, external: true };
    },
    load(id) {
      if (id === ENTRY) return program;
      if (id === COLORS) return 'export default new Proxy({}, { get: () => String });';
      if (id === VECTORS)
        return `const files = ${JSON.stringify(readVectorFiles())};\nexport const readVectors = (file) => structuredClone(files[file].cases);`;
      if (id === `${NODE}node:fs`) return fileStub(dir);
      if (id === `${NODE}node:path`) return PATH_STUB;
      // Named imports of a module with a computed export are read when they are used: only then does a test turn out to need Node.
      if (id.startsWith(NODE)) return { code: nodeStub(id.slice(NODE.length)), moduleType: 'js' };
      return undefined;
    },
    /** Files keep the paths by which `fileStub` knows them. No runtime needs permission for its environment. */
    transform: (code, id) =>
      id.startsWith(dir)
        ? code.replaceAll('import.meta.dirname', JSON.stringify(dirname(id))).replaceAll('process.env', '({})')
        : undefined,
  };
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'neutral',
    plugins: [plugin],
    logLevel: 'silent',
    resolve: { mainFields: ['module', 'main'], conditionNames: ['import', 'default'] },
  });
  try {
    const { output } = await bundle.write({ file, codeSplitting: false });
    return output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.imports : []));
  } finally {
    await bundle.close();
  }
}

/** The vectors of the package as files; other files need Node. */
function fileStub(dir: string): string {
  const files = Object.fromEntries(
    listFiles(dir, /^test\/vectors\/.*\.json$/).map((file) => [join(dir, file), readFileSync(join(dir, file), 'utf8')]),
  );
  return `import { NeedsNode } from ${JSON.stringify(HARNESS)};
const files = ${JSON.stringify(files)};
const needNode = (what) => { throw new NeedsNode('node:fs.' + what); };
export const existsSync = () => needNode('existsSync');
export const readFileSync = (path) => files[path] ?? needNode('readFileSync');
export const readdirSync = (folder) => {
  const below = Object.keys(files).filter((path) => path.startsWith(folder + '/')).map((path) => path.slice(folder.length + 1));
  return below.length === 0 ? needNode('readdirSync') : below.filter((name) => !name.includes('/'));
};`;
}

const PATH_STUB = `const normalize = (path) => path.split('/').reduce((kept, part) => (part === '..' ? kept.slice(0, -1) : part === '.' ? kept : [...kept, part]), []).join('/');
export const join = (...parts) => normalize(parts.join('/'));
export const dirname = (path) => path.slice(0, path.lastIndexOf('/'));`;

function nodeStub(name: string): string {
  return `const { NeedsNode } = require(${JSON.stringify(HARNESS)});
module.exports = new Proxy({}, { get: (_, key) => () => { throw new NeedsNode(${JSON.stringify(name)} + '.' + String(key)); } });`;
}

function readVectorFiles(): Record<string, unknown> {
  const folder = join(root, 'vectors/protocol');
  return Object.fromEntries(
    readdirSync(folder).map((file) => [file.replace(/\.json$/, ''), JSON.parse(readFileSync(join(folder, file), 'utf8'))]),
  );
}
