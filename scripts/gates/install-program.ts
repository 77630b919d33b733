import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../packages.mjs';
import { commandOrThrow } from './command.js';

/**
 * Installs a program that only one command needs, from its own manifest and lockfile, unless it is there already. It is not part of the workspace, so that a
 * newcomer's first install stays small.
 * @param manifests - The folder of its `package.json` and `package-lock.json`, from the root.
 * @returns the folder that it is installed in, with `node_modules`
 */
export async function installProgram(name: string, manifests: string): Promise<string> {
  const folder = join(root, 'node_modules/.cache', name);
  const lockfile = readFileSync(join(root, manifests, 'package-lock.json'), 'utf8');
  const stamp = join(folder, 'installed-lockfile.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lockfile) return folder;
  console.log(`installing ${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, manifests), folder, { recursive: true });
  // Not `ci`, which refuses lockfiles without the optional binaries of other platforms.
  await commandOrThrow('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'], {
    cwd: folder,
  });
  writeFileSync(stamp, lockfile);
  return folder;
}
