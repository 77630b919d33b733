import { fileURLToPath } from 'node:url';

/** The compiled form of a file of this folder. Only compiled code is measured, never what a loader makes of the sources. */
export function built(path: string): string {
  return fileURLToPath(new URL(`../dist/${path}`, import.meta.url));
}
