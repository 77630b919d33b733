import { cp, symlink } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { root } from '../packages.mjs';
import { temporaryFolder } from './temporary-folder.js';

const LEFT_OUT: ReadonlySet<string> = new Set(['dist', 'temp', '.vitest', '.turbo', '.vite', '.vite-temp', 'coverage', 'results']);
const COPIED = [
  ...[
    'packages',
    'apps',
    'bench',
    'docs',
    'scripts',
    'vectors',
    '.changeset',
    '.dependency-cruiser.mjs',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
  ],
  ...['biome.json', 'package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'tsconfig.base.json', 'turbo.json', 'vitest.shared.ts'],
];

/** A copy of the repository to change, with the dependencies of the original. Gone at the end of the process. */
export async function workCopy(): Promise<string> {
  const folder = temporaryFolder('copy');
  for (const name of COPIED) {
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      // The links between the packages are relative: copied unchanged, they lead from copy to copy.
      verbatimSymlinks: true,
      filter: (source) => !LEFT_OUT.has(basename(source)) && !relative(root, source).startsWith('..'),
    });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return folder;
}
