import { cp, symlink } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { temporaryFolder } from '../gates/temporary-folder.js';
import { root } from '../packages.mjs';

const LEFT_OUT: ReadonlySet<string> = new Set(['dist', '.vitest', '.turbo', '.vite', '.vite-temp', 'coverage']);
const COPIED = ['packages', 'package.json', 'tsconfig.base.json', 'vitest.shared.ts'];

/** A copy of the sources to break, with the dependencies of the original. Gone at the end of the process. */
export async function workCopy(): Promise<string> {
  const folder = temporaryFolder('mutation');
  for (const name of COPIED) {
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      // The links between the packages are relative: copied as they are, they lead from copy to copy.
      verbatimSymlinks: true,
      filter: (source) => !LEFT_OUT.has(basename(source)) && !relative(root, source).startsWith('..'),
    });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return folder;
}
