import { findNodeModule, randomUuid } from '@tinkex/http/runtime';
import { isPlainObject, parseJson } from '@tinkex/types/wire';
import { paths } from '../node-files.js';

type FileSystem = typeof import('node:fs/promises');

/** Files by their names. */
export type CachedFiles = ReadonlyMap<string, Uint8Array>;

/**
 * Sets of files on disk, by key. A set is a small index file that names its files by their SHA-256; both kinds are written under another
 * name first and then renamed. A reader therefore finds a whole set or none, whatever other processes do at the same time, and a file whose content
 * does not match its name counts as missing.
 */
export class FileCache {
  readonly #directory: string;
  readonly #fs: FileSystem;

  private constructor(directory: string, fs: FileSystem) {
    this.#directory = directory;
    this.#fs = fs;
  }

  /** The cache in a directory, which is created when something is stored. Undefined in runtimes without a file system. */
  static in(directory: string): FileCache | undefined {
    const fs = findNodeModule('node:fs/promises');
    return fs === undefined ? undefined : new FileCache(directory, fs);
  }

  /** The files of a set, or undefined when it is not there as a whole, or cannot be read. */
  async read(key: string): Promise<CachedFiles | undefined> {
    try {
      const index = parseJson(await this.#fs.readFile(await this.#indexPath(key)));
      if (!isPlainObject(index)) return undefined;
      const files = new Map<string, Uint8Array>();
      for (const [name, checksum] of Object.entries(index)) {
        const bytes = await this.#fs.readFile(this.#blobPath(String(checksum)));
        if ((await sha256(bytes)) !== checksum) return undefined;
        files.set(name, bytes);
      }
      return files;
    } catch {
      // Not there, not allowed, or not an index: the files are fetched, as without a cache.
      return undefined;
    }
  }

  /**
   * Stores a set, in place of an earlier one.
   *
   * @throws What the file system says.
   */
  async write(key: string, files: CachedFiles): Promise<void> {
    await this.#fs.mkdir(this.#directory, { recursive: true });
    const index: Record<string, string> = {};
    for (const [name, bytes] of files) {
      const checksum = await sha256(bytes);
      await this.#replace(this.#blobPath(checksum), bytes);
      index[name] = checksum;
    }
    await this.#replace(await this.#indexPath(key), `${JSON.stringify(index)}\n`);
  }

  async #replace(path: string, content: Uint8Array | string): Promise<void> {
    const partial = `${path}.${randomUuid()}.partial`;
    try {
      await this.#fs.writeFile(partial, content, { flush: true });
      await this.#fs.rename(partial, path);
    } finally {
      await this.#fs.rm(partial, { force: true });
    }
  }

  async #indexPath(key: string): Promise<string> {
    return paths().join(this.#directory, `${await sha256(new TextEncoder().encode(key))}.index.json`);
  }

  #blobPath(checksum: string): string {
    return paths().join(this.#directory, `${checksum.replace(/[^0-9a-f]/g, '')}.blob`);
  }
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
