import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Bytes on disk of a package and all its dependencies. For our packages only the published files count. */
export function installedBytes(name: string): number {
  const seen = new Set<string>();
  let bytes = 0;
  const add = (folder: string): void => {
    const real = realpathSync(folder);
    if (seen.has(real)) return;
    seen.add(real);
    const { name: own, dependencies = {} } = JSON.parse(readFileSync(join(real, 'package.json'), 'utf8')) as Manifest;
    const isOurs = own.startsWith('@tinkex/');
    bytes += isOurs ? ['dist', 'src', 'package.json', 'README.md'].reduce((sum, part) => sum + sizeOf(join(real, part)), 0) : sizeOf(real);
    for (const dependency of Object.keys(dependencies)) add(resolve(real, dependency));
  };
  add(resolve(fileURLToPath(new URL('..', import.meta.url)), name));
  return bytes;
}

/** Where a package finds a dependency: next to itself in pnpm's store, or in its own folder. */
function resolve(from: string, name: string): string {
  for (let folder = from; ; folder = join(folder, '..')) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(found)) return found;
    if (folder === join(folder, '..')) throw new Error(`${name} is not installed for ${from}.`);
  }
}

function sizeOf(path: string): number {
  if (!existsSync(path)) return 0;
  const entry = statSync(path);
  if (!entry.isDirectory()) return isPublished(path) ? entry.size : 0;
  return readdirSync(path)
    .filter((name) => name !== 'node_modules')
    .reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function isPublished(path: string): boolean {
  return !/\.(test|test-d)\.ts$|\.tsbuildinfo$/.test(path);
}
