import { closeSync, fdatasync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncFolder } from './sync-folder.js';

/** Before each batch: its length and its CRC-32, both 32 bits, little-endian. */
const HEADER_BYTES = 8;

/**
 * A file that only grows, by whole batches. A batch that a crash cut off is recognized by its checksum and ignored when the file is read: a
 * batch is there completely or not at all.
 */
export class Journal {
  readonly #path: string;
  readonly #file: number;
  #bytes = 0;
  #syncedBytes = 0;
  #syncing: Promise<void> | undefined;
  #failure: Error | undefined;

  /** Creates the file. Throws when it exists. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'ax');
  }

  /** How large the file is. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a power failure would lose nothing. */
  get isSynced(): boolean {
    return this.#syncedBytes === this.#bytes && this.#failure === undefined;
  }

  /** Hands a batch to the operating system: it survives the end of this process. Throws when that fails; the file is as it was before. */
  append(content: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure;
    const batch = Buffer.allocUnsafe(HEADER_BYTES + content.length);
    batch.writeUInt32LE(content.length, 0);
    batch.writeUInt32LE(crc32(content), 4);
    batch.set(content, HEADER_BYTES);
    try {
      for (let done = 0; done < batch.length; ) done += writeSync(this.#file, batch, done, batch.length - done, this.#bytes + done);
    } catch (error) {
      ftruncateSync(this.#file, this.#bytes);
      throw error;
    }
    this.#bytes += batch.length;
  }

  /**
   * Resolves when everything appended so far survives a power failure. Calls at the same time share one sync. After a sync has failed, it
   * is unknown what the disk holds: from then on every call fails.
   */
  async sync(): Promise<void> {
    const wanted = this.#bytes;
    while (this.#syncedBytes < wanted) {
      if (this.#failure !== undefined) throw this.#failure;
      this.#syncing ??= this.#sync().finally(() => {
        this.#syncing = undefined;
      });
      await this.#syncing;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  async #sync(): Promise<void> {
    const bytes = this.#bytes;
    await new Promise<void>((resolve, reject) => {
      fdatasync(this.#file, (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    }).catch((cause: unknown) => {
      this.#failure = new Error(`The disk did not confirm what was written to ${this.#path}; restart the server.`, { cause });
      throw this.#failure;
    });
    if (this.#syncedBytes === 0) await syncFolder(dirname(this.#path));
    this.#syncedBytes = bytes;
  }
}

/** The whole batches of a file, in order, and how many bytes follow them that are none: a crash has cut them off. */
export function readBatches(path: string): { readonly batches: readonly Buffer[]; readonly ignoredBytes: number } {
  const bytes = readFileSync(path);
  const batches: Buffer[] = [];
  let offset = 0;
  while (offset + HEADER_BYTES <= bytes.length) {
    const start = offset + HEADER_BYTES;
    const end = start + bytes.readUInt32LE(offset);
    const content = bytes.subarray(start, end);
    // A file may end in zeros after a power failure. They are not an empty batch: none is ever written.
    if (end === start || end > bytes.length || crc32(content) !== bytes.readUInt32LE(offset + 4)) break;
    batches.push(content);
    offset = end;
  }
  return { batches, ignoredBytes: bytes.length - offset };
}
