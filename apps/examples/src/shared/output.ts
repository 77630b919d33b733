import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where examples write files: `TINKEX_EXAMPLES_OUT`, or `apps/examples/out`, which git ignores. */
const OUTPUT_DIRECTORY = process.env.TINKEX_EXAMPLES_OUT || fileURLToPath(new URL('../../out', import.meta.url));

/** The path of an output file or folder. */
export function outputPath(name: string): string {
  return join(OUTPUT_DIRECTORY, name);
}

/** Writes an output file. Returns its path as a user would type it. */
export async function writeOutput(name: string, text: string): Promise<string> {
  const path = outputPath(name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return shownPath(path);
}

/** A path relative to the current directory, if the file is below it. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
