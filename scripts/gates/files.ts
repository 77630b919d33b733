import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const NEVER = new Set(['node_modules', 'dist', 'temp', 'out', '.git', '.turbo', '.vitest', 'coverage']);

/** The files under a directory whose slash-separated path relative to it matches, sorted; build output and dependencies are left out. */
export function listFiles(directory: string, pattern: RegExp): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !NEVER.has(entry.name)) visit(path);
      if (entry.isFile()) {
        const name = relative(directory, path).split(sep).join('/');
        if (pattern.test(name)) found.push(name);
      }
    }
  };
  if (existsSync(directory)) visit(directory);
  return found.sort();
}
