import { rename, writeFile } from 'node:fs/promises';

/** Writes a file so that a reader, or a crash, sees the old content or the new, never a part. */
export async function writeAtomically(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, path);
}
