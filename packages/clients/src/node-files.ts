import { findNodeModule, nodeModule } from '@tinkex/http/runtime';

const PURPOSE = 'Working with files (checkpoints, tokenizers)';

/** Node's file system, found when a file is read or written: a client that only trains and samples runs without it. */
export function fileSystem(): typeof import('node:fs/promises') {
  return nodeModule('node:fs/promises', PURPOSE);
}

/** Node's rules for paths of this system. */
export function paths(): typeof import('node:path') {
  return nodeModule('node:path', PURPOSE);
}

/** Whether a name is a path from the root of this system. Where there are no files, no name is. */
export function isAbsolutePath(name: string): boolean {
  return findNodeModule('node:path')?.isAbsolute(name) ?? false;
}
