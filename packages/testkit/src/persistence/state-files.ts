import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { ConfigurationError } from '@tinkex/types';
import { Journal, readBatches } from './journal.js';
import { type Entry, StoredRecords } from './stored-records.js';

/** The first batch of every file. */
const FORMAT = 'tinkex-testkit-state 2';

/**
 * The files of a state folder. Snapshot n holds all that journals below n hold; the state is the newest snapshot, then every journal from its
 * number on, in order.
 */
export class StateFiles {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The file of a journal or a snapshot. */
  path(kind: 'journal' | 'snapshot', generation: number): string {
    return join(this.#dir, `${kind}-${generation}`);
  }

  /** Starts a file. */
  create(path: string): Journal {
    rmSync(path, { force: true });
    const journal = new Journal(path);
    journal.append(serialize(FORMAT));
    return journal;
  }

  /** All that is stored, and the highest number in use. Throws `ConfigurationError` when the folder holds something else. */
  read(): { readonly records: StoredRecords; readonly generation: number; readonly ignoredBytes: number } {
    const records = new StoredRecords();
    const [snapshot = 0] = this.#generations('snapshot').reverse();
    const journals = this.#generations('journal').filter((generation) => generation >= snapshot);
    const paths = journals.map((generation) => this.path('journal', generation));
    if (snapshot > 0) paths.unshift(this.path('snapshot', snapshot));
    else if (paths.length === 0) this.#requireEmpty();
    let ignoredBytes = 0;
    for (const path of paths) {
      const read = readBatches(path);
      const [format, ...batches] = read.batches;
      if (format !== undefined && decode(path, format) !== FORMAT) throw foreign(path);
      if (path === this.path('snapshot', snapshot) && (format === undefined || read.ignoredBytes > 0)) throw foreign(path);
      for (const batch of batches) records.apply(decode(path, batch) as readonly Entry[]);
      ignoredBytes += read.ignoredBytes;
    }
    return { records, generation: Math.max(snapshot, ...journals), ignoredBytes };
  }

  /** Removes every file that a snapshot has replaced. */
  removeBefore(generation: number): void {
    for (const kind of ['journal', 'snapshot'] as const) {
      for (const older of this.#generations(kind)) if (older < generation) rmSync(this.path(kind, older), { force: true });
    }
  }

  /** The numbers of the files of a kind, lowest first. */
  #generations(kind: 'journal' | 'snapshot'): number[] {
    const found = readdirSync(this.#dir).flatMap((name) => {
      const [, own, number] = /^(journal|snapshot)-(\d+)$/.exec(name) ?? [];
      return own === kind ? [Number(number)] : [];
    });
    return found.sort((left, right) => left - right);
  }

  #requireEmpty(): void {
    const [other] = readdirSync(this.#dir).filter((name) => !/^(lock|blobs|snapshot\.tmp)$|^lock-|^\./.test(name));
    if (other !== undefined) throw foreign(join(this.#dir, other));
  }
}

/** One batch. */
export function encodeEntries(entries: readonly Entry[]): Buffer {
  return serialize(entries);
}

function decode(path: string, batch: Buffer): unknown {
  try {
    return deserialize(batch);
  } catch {
    // Written by a newer Node with another serialization, or by another program.
    throw foreign(path);
  }
}

function foreign(path: string): ConfigurationError {
  return new ConfigurationError({
    message: `${path} does not hold the state of a test server of this version. Choose an empty folder.`,
    option: 'stateDir',
  });
}
