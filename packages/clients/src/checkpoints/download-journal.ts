import type { FileHandle } from 'node:fs/promises';
import { fileSystem, paths } from '../node-files.js';
import { bootOfMachine } from './staging-owner.js';

const FORMAT = 1;
const FILE = 'journal.jsonl';

/** What identifies the version of a file whose bytes are on disk. */
export interface FileVersion {
  /** Its entity tag or date. */
  readonly validator: string;
  readonly totalBytes?: number | undefined;
}

/** What is being downloaded. Bytes of anything else are of no use. */
export interface DownloadSubject {
  readonly tinkerPath: string;
  readonly isArchive: boolean;
}

/**
 * What a staging directory holds: a line for the checkpoint, then one for each file that is begun. A process that is killed leaves the
 * journal to the next one, which continues where it stopped.
 */
export class DownloadJournal implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #versions: Map<string, FileVersion>;

  private constructor(file: FileHandle, versions: Map<string, FileVersion>) {
    this.#file = file;
    this.#versions = versions;
  }

  /**
   * Opens the journal of a staging directory. Removes everything that an earlier download left there if it was one of another
   * checkpoint, or if the machine has been restarted since: the end of a file may then be missing without a trace.
   */
  static async open(directory: string, contents: readonly string[], subject: DownloadSubject): Promise<DownloadJournal> {
    const path = paths().join(directory, FILE);
    const header = JSON.stringify({ format: FORMAT, ...subject, boot: await bootOfMachine() });
    const [first, ...lines] = await readLines(path);
    const isSame = first === header;
    if (!isSame) {
      for (const name of contents) await fileSystem().rm(paths().join(directory, name), { recursive: true, force: true, maxRetries: 3 });
      await fileSystem().rm(path, { recursive: true, force: true });
    }
    const file = await fileSystem().open(path, 'a', 0o600);
    if (!isSame) await file.write(`${header}\n`);
    return new DownloadJournal(file, isSame ? readVersions(lines) : new Map());
  }

  /** The version of the file whose bytes are on disk, if one was begun. */
  version(name: string): FileVersion | undefined {
    return this.#versions.get(name);
  }

  /** Notes the version of a file, before its first byte is written. */
  async begin(name: string, version: FileVersion): Promise<void> {
    this.#versions.set(name, version);
    await this.#file.write(`${JSON.stringify({ name, ...version })}\n`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close();
  }
}

async function readLines(path: string): Promise<string[]> {
  try {
    const text = await fileSystem().readFile(path, 'utf8');
    // The last line is complete only with its end.
    return text.split('\n').slice(0, -1);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readVersions(lines: readonly string[]): Map<string, FileVersion> {
  const versions = new Map<string, FileVersion>();
  for (const line of lines) {
    const entry = parseEntry(line);
    if (entry !== undefined) versions.set(entry.name, entry);
  }
  return versions;
}

function parseEntry(line: string): (FileVersion & { readonly name: string }) | undefined {
  try {
    return JSON.parse(line) as FileVersion & { readonly name: string };
  } catch {
    return undefined;
  }
}
