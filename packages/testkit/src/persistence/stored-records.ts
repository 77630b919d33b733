import type { EngineState } from '../engine/engine.js';
import type { TableName } from '../state/state-changes.js';
import { joinPages } from './paged-state.js';
import type { StoredTenant } from './restore-state.js';

/** What batches contain besides the tables of tenants: engines in pages, what the engine counts, and the number of IDs given out. */
export type StoredKind = TableName | 'engine' | 'page' | 'counter' | 'ids';

/** One record in a batch. The value is undefined for a record that was deleted. */
export type Entry = readonly [kind: StoredKind, keyHash: string, id: string, value: unknown];

/** What is stored of a model's engine beside its pages. */
export interface StoredEngine {
  readonly revision: number;
  /** The size of each part. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** The newest record of each kind and ID, collected from batches in their order. */
export class StoredRecords {
  readonly #byOwner = new Map<string, Map<StoredKind, Map<string, unknown>>>();

  apply(entries: readonly Entry[]): void {
    for (const [kind, keyHash, id, value] of entries) {
      const records = this.#records(keyHash, kind);
      if (value === undefined) records.delete(id);
      else records.set(id, value);
    }
  }

  get tenants(): StoredTenant[] {
    return [...this.#byOwner.keys()].filter((keyHash) => keyHash !== '').map((keyHash) => this.#tenant(keyHash));
  }

  get idCount(): number {
    return (this.#records('', 'ids').get('') as number | undefined) ?? 0;
  }

  get counters(): ReadonlyMap<string, number> {
    return this.#records('', 'counter') as Map<string, number>;
  }

  #tenant(keyHash: string): StoredTenant {
    return {
      keyHash,
      table: <Value>(name: TableName) => this.#records(keyHash, name) as Map<string, Value>,
      engineOf: (modelId) => this.#engine(keyHash, modelId),
    };
  }

  #engine(keyHash: string, modelId: string): { readonly revision: number; readonly state: EngineState } | undefined {
    const stored = this.#records(keyHash, 'engine').get(modelId) as StoredEngine | undefined;
    if (stored === undefined) return undefined;
    const pages = this.#records(keyHash, 'page') as Map<string, Uint8Array>;
    return { revision: stored.revision, state: joinPages(stored.sizes, (name) => pages.get(pageId(modelId, name))) };
  }

  #records(keyHash: string, kind: StoredKind): Map<string, unknown> {
    const kinds = this.#byOwner.get(keyHash) ?? new Map<StoredKind, Map<string, unknown>>();
    this.#byOwner.set(keyHash, kinds);
    const records = kinds.get(kind) ?? new Map<string, unknown>();
    kinds.set(kind, records);
    return records;
  }
}

/** The ID of a page of a model's engine. */
export function pageId(modelId: string, page: string): string {
  return `${modelId}\n${page}`;
}
