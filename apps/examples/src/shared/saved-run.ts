import { readFile, rm } from 'node:fs/promises';
import { outputPath, writeOutput } from './output.js';

/** What has to be remembered of a run to go on with it in another process. */
export interface SavedRun {
  /** The checkpoint, with the optimizer's state. */
  readonly path: string;
  /** Steps done when it was saved. */
  readonly step: number;
  /** What was trained on and how: a run goes on exactly only with the same. */
  readonly fingerprint: string;
}

/** Remembers one run in an output file. */
export class RunMemory {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async read(): Promise<SavedRun | undefined> {
    try {
      return JSON.parse(await readFile(outputPath(this.#file), 'utf8')) as SavedRun;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Error(`${outputPath(this.#file)} cannot be read; start again with --fresh`, { cause: error });
    }
  }

  async write(run: SavedRun): Promise<void> {
    await writeOutput(this.#file, `${JSON.stringify(run, undefined, 2)}\n`);
  }

  async forget(): Promise<void> {
    await rm(outputPath(this.#file), { force: true });
  }
}
