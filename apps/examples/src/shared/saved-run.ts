import { readFile, rm } from 'node:fs/promises';
import { outputPath, shownPath, writeOutput } from './output.js';

/** What another process needs to continue a run. */
export interface SavedRun {
  /** The checkpoint, with the state of the optimizer. */
  readonly path: string;
  /** Steps completed when it was saved. */
  readonly step: number;
  /** The loss of each step, so that the curve continues too. */
  readonly losses: readonly number[];
  /** Identifies data and settings: a run continues exactly only with the same ones. */
  readonly fingerprint: string;
  /** Options that may change: the user hears which have. */
  readonly settings?: Readonly<Record<string, number>> | undefined;
}

/** Keeps one run in an output file. */
export class RunMemory {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async read(): Promise<SavedRun | undefined> {
    try {
      const value: unknown = JSON.parse(await readFile(outputPath(this.#file), 'utf8'));
      if (!isSavedRun(value)) throw new Error('not a saved run');
      return value;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Error(`${shownPath(outputPath(this.#file))} is damaged. Start over with --fresh.`, { cause: error });
    }
  }

  async write(run: SavedRun): Promise<void> {
    await writeOutput(this.#file, `${JSON.stringify(run, undefined, 2)}\n`);
  }

  async forget(): Promise<void> {
    await rm(outputPath(this.#file), { force: true });
  }
}

function isSavedRun(value: unknown): value is SavedRun {
  const { path, step, losses, fingerprint } = (value ?? {}) as Partial<SavedRun>;
  return typeof path === 'string' && typeof fingerprint === 'string' && Array.isArray(losses) && losses.length === step;
}
