import type { Entry, StoredKind } from './stored-records.js';

/** A record to be written, with the way to read it when its time comes. */
export interface Touched {
  readonly kind: StoredKind;
  readonly keyHash: string;
  readonly id: string;
  /** Its value then; undefined when it does not exist any more. */
  readonly read: () => unknown;
}

/** The record as it is now. */
export function entryOf({ kind, keyHash, id, read }: Touched): Entry {
  return [kind, keyHash, id, read()];
}
