import type { LineProblem } from '@tinkex/telemetry/runs';
import { GrowingFile } from '../metrics/growing-file.js';
import type { EventRecord } from './event-record.js';
import { storeFiles } from './event-store.js';
import { Recording } from './recording.js';

const KINDS: ReadonlySet<string> = new Set(['begin', 'metrics', 'checkpoint', 'example', 'span', 'exchange', 'tick', 'end']);

/** The recording that a program has left in a folder, or is still writing. */
export class RecordedEvents {
  readonly recording = new Recording();
  readonly problems: LineProblem[] = [];
  readonly #folder: string;
  readonly #files = new Map<string, GrowingFile>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads what is new. */
  async refresh(): Promise<void> {
    for (const path of [...storeFiles(this.#folder, 'history'), ...storeFiles(this.#folder, 'lately')]) {
      let file = this.#files.get(path);
      if (file === undefined) {
        file = new GrowingFile(path);
        this.#files.set(path, file);
      }
      const { records, problems } = await file.read();
      this.problems.push(...problems);
      for (const record of records) {
        if (isEventRecord(record)) this.recording.apply(record);
      }
    }
  }
}

/** Whether a line has what every record has. Newer kinds are passed over. */
function isEventRecord(record: object): record is EventRecord {
  const { kind, atMs } = record as { kind?: unknown; atMs?: unknown };
  return typeof kind === 'string' && KINDS.has(kind) && typeof atMs === 'number';
}
