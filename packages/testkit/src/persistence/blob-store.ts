import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointFiles } from '../engine/engine.js';

/** The hash of each file's content, by file name. */
export type StoredFiles = Readonly<Record<string, string>>;

/** Files stored by the hash of their content: written once and never changed, so a crash leaves whole files or none. */
export class BlobStore {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async put(files: CheckpointFiles): Promise<StoredFiles> {
    await mkdir(this.#dir, { recursive: true });
    const stored: Record<string, string> = {};
    for (const [name, bytes] of files) {
      const hash = createHash('sha256').update(bytes).digest('hex');
      stored[name] = hash;
      const path = join(this.#dir, hash);
      const isThere = await stat(path).then(
        () => true,
        () => false,
      );
      if (!isThere) await writeAtomically(path, bytes);
    }
    return stored;
  }

  async get(stored: StoredFiles): Promise<CheckpointFiles> {
    const files = new Map<string, Uint8Array>();
    for (const [name, hash] of Object.entries(stored)) files.set(name, await readFile(join(this.#dir, hash)));
    return files;
  }

  /** Removes every blob that is not in use. */
  async keepOnly(hashes: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#dir).catch(() => [])) {
      if (!hashes.has(name)) await rm(join(this.#dir, name), { force: true });
    }
  }
}

/** Writes a file so that readers, and restarts after a crash, see the old content or the new, never a part. */
export async function writeAtomically(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, path);
}
