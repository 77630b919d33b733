import { matchesGlob } from './match-glob.js';

/** A mark of older servers that says nothing to users of the adapter. */
const MARK = 'checkpoint_complete';

/** Which files of a folder are uploaded. Patterns as of a shell, where `*` also stands for `/`. */
export function filePatterns(allowed: readonly string[], ignored: readonly string[]): (path: string) => boolean {
  return (path) => {
    if (ignored.some((pattern) => matchesGlob(path, pattern))) return false;
    return allowed.length === 0 ? path !== MARK : allowed.some((pattern) => matchesGlob(path, pattern));
  };
}
