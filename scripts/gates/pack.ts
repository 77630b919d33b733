import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages, root, type WorkspacePackage } from '../packages.mjs';
import { commandOrThrow } from './command.js';
import { inParallel } from './in-parallel.js';

/** Builds all packages; what is up to date comes from turbo's cache. */
export async function build(): Promise<void> {
  await commandOrThrow('turbo', ['run', 'build', '--output-logs=errors-only']);
}

/** Builds and packs every published package exactly as a release would, into `temp/tarballs`; the result has the tarball of each name in the registry. */
export async function packAll(): Promise<Map<string, string>> {
  const packages = publishedPackages();
  // A declaration left over from a deleted source must not be packed.
  for (const { dir } of packages) rmSync(join(dir, 'dist'), { recursive: true, force: true });
  await build();
  const destination = join(root, 'temp', 'tarballs');
  rmSync(destination, { recursive: true, force: true });
  mkdirSync(destination, { recursive: true });
  const tarballs = await inParallel(packages, (one) => pack(one, destination));
  return new Map(packages.map(({ id }, index) => [id, tarballs[index] ?? '']));
}

/** Builds and packs one package, and gives its tarball. A leftover declaration in `dist` is packed along: use it to run the package, not to compile against it. */
export async function packOne(one: WorkspacePackage, destination: string): Promise<string> {
  await commandOrThrow('turbo', ['run', 'build', `--filter=${one.id}`, '--output-logs=errors-only']);
  return pack(one, destination);
}

async function pack({ dir }: WorkspacePackage, destination: string): Promise<string> {
  const { stdout } = await commandOrThrow('pnpm', ['pack', '--json', '--pack-destination', destination], { cwd: dir });
  return join(destination, JSON.parse(stdout).filename.split(/[\\/]/).at(-1));
}
