import { stat } from 'node:fs/promises';
import { JsonlReader, type JsonRecord, type LineProblem } from '@tinkex/telemetry/runs';

/** What {@link GrowingFile.read} found. */
export interface Growth {
  /** Whether the file was replaced: what was read before no longer counts. */
  readonly isReplaced: boolean;
  readonly records: readonly JsonRecord[];
  readonly problems: readonly LineProblem[];
}

const NOTHING: Growth = { isReplaced: false, records: [], problems: [] };

/** Follows a JSONL file of a run: what was appended, and whether a resumed run has replaced it. */
export class GrowingFile {
  readonly #path: string;
  #reader: JsonlReader;
  #size = 0;
  #inode: number | undefined;
  #modifiedAtMs: number | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#reader = new JsonlReader(path);
  }

  /** When the file was last written; undefined while it does not exist. */
  get modifiedAtMs(): number | undefined {
    return this.#modifiedAtMs;
  }

  async read(): Promise<Growth> {
    const found = await statOf(this.#path);
    this.#modifiedAtMs = found?.mtimeMs;
    if (found === undefined) return NOTHING;
    const isReplaced = this.#inode !== undefined && (found.ino !== this.#inode || found.size < this.#size);
    if (isReplaced) this.#reader = new JsonlReader(this.#path);
    else if (found.size === this.#size) return NOTHING;
    this.#inode = found.ino;
    this.#size = found.size;
    return { isReplaced, ...(await this.#reader.read()) };
  }
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
