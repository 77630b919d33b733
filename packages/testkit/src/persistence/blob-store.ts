import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointFiles } from '../engine/engine.js';
import { syncFolder } from './sync-folder.js';

/** The hash of each file's content, by file name. */
export type StoredFiles = Readonly<Record<string, string>>;

/** The files of checkpoints, stored by the hash of their content: written once and never changed. */
export class BlobStore {
  readonly #dir: string;
  readonly #known = new WeakMap<CheckpointFiles, StoredFiles>();
  readonly #unsynced = new Set<string>();

  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true });
  }

  /** Stores files, so that they survive the end of this process. */
  put(files: CheckpointFiles): StoredFiles {
    const known = this.#known.get(files);
    if (known !== undefined) return known;
    const entries = [...files].map(([name, bytes]) => [name, this.#write(bytes)] as const);
    const stored = Object.fromEntries(entries);
    this.#known.set(files, stored);
    return stored;
  }

  /** Reads files back. Throws when one is missing or damaged. */
  get(stored: StoredFiles): CheckpointFiles {
    const files = new Map<string, Uint8Array>();
    for (const [name, hash] of Object.entries(stored)) {
      const bytes = readFileSync(join(this.#dir, hash));
      if (hashOf(bytes) !== hash) throw new Error(`The file ${hash} in ${this.#dir} is damaged.`);
      files.set(name, bytes);
    }
    this.#known.set(files, stored);
    return files;
  }

  /** Resolves when everything stored so far survives a power failure. */
  async sync(): Promise<void> {
    const names = [...this.#unsynced];
    if (names.length === 0) return;
    for (const name of names) await syncFile(join(this.#dir, name));
    await syncFolder(this.#dir);
    for (const name of names) this.#unsynced.delete(name);
  }

  /** Removes every file that is not in use. */
  keepOnly(inUse: Iterable<CheckpointFiles>): void {
    const hashes = new Set([...inUse].flatMap((files) => Object.values(this.put(files))));
    for (const name of readdirSync(this.#dir)) {
      if (hashes.has(name)) continue;
      rmSync(join(this.#dir, name), { force: true });
      this.#unsynced.delete(name);
    }
  }

  #write(bytes: Uint8Array): string {
    const hash = hashOf(bytes);
    const path = join(this.#dir, hash);
    if (existsSync(path)) return hash;
    const temporary = `${path}.tmp`;
    writeFileSync(temporary, bytes);
    renameSync(temporary, path);
    this.#unsynced.add(hash);
    return hash;
  }
}

/** Resolves when a file survives a power failure, or was removed in the meantime. */
async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  await file?.sync().finally(() => file.close());
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
