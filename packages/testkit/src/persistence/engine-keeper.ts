import type { EngineState } from '../engine/engine.js';
import type { ModelRecord } from '../state/records.js';
import type { Tenant } from '../state/tenant.js';
import { PagedState } from './paged-state.js';
import { pageId, type StoredEngine } from './stored-records.js';
import type { Touched } from './touched.js';

/** An engine that remembers less than this is written after each operation; a larger one soon. */
const SMALL_ENGINE_BYTES = 8 << 20;

/** What was last written of a model's engine. */
interface KeptEngine {
  readonly pages: PagedState;
  readonly stored: StoredEngine;
}

/** Knows what is stored of each model's engine, and which pages have changed since. */
export class EngineKeeper {
  readonly #isStrict: boolean;
  readonly #touch: (touched: Touched) => void;
  readonly #kept = new WeakMap<ModelRecord, KeptEngine>();
  /** Models whose engine has changed since it was last copied. */
  readonly #late = new Map<ModelRecord, Tenant>();
  /** Those of them that were busy when it was time to copy them: they are copied when their operation ends. */
  readonly #overdue = new Set<ModelRecord>();

  constructor(isStrict: boolean, touch: (touched: Touched) => void) {
    this.#isStrict = isStrict;
    this.#touch = touch;
  }

  /** Takes over what is stored already. */
  restore(model: ModelRecord, { revision, state }: { readonly revision: number; readonly state: EngineState }): void {
    const pages = new PagedState(state);
    this.#kept.set(model, { pages, stored: { revision, sizes: pages.sizes } });
  }

  /** To be called after an operation that has changed the engine, before the next one. */
  trained(tenant: Tenant, model: ModelRecord): void | Promise<void> {
    const state = model.engine?.state?.();
    if (state === undefined) return this.#keepSaved(tenant, model);
    const isDue = this.#isStrict || sizeOf(state) <= SMALL_ENGINE_BYTES || this.#overdue.has(model);
    if (isDue) this.#keep(tenant, model, state);
    else this.#late.set(model, tenant);
  }

  /** Copies the engines that are waiting for it. A busy one follows when its operation ends. */
  keepIdle(): void {
    for (const [model, tenant] of this.#late) {
      const state = model.engine?.state?.();
      if (model.progress.isBusy) this.#overdue.add(model);
      else if (state !== undefined) this.#keep(tenant, model, state);
    }
  }

  /** Everything that is stored of a model's engine. */
  all(keyHash: string, model: ModelRecord): Touched[] {
    const kept = this.#kept.get(model);
    if (kept === undefined || model.engine === undefined) return [];
    const { modelId } = model;
    const { pages, stored } = kept;
    const touchedPages = pages.names().map(
      (page): Touched => ({
        kind: 'page',
        keyHash,
        id: pageId(modelId, page),
        read: () => pages.get(page),
      }),
    );
    return [{ kind: 'engine', keyHash, id: modelId, read: () => this.#kept.get(model)?.stored ?? stored }, ...touchedPages];
  }

  /** An engine without `state()` is kept as it saves itself. */
  async #keepSaved(tenant: Tenant, model: ModelRecord): Promise<void> {
    if (model.engine !== undefined) this.#keep(tenant, model, await model.engine.save('training'));
  }

  #keep({ keyHash }: Tenant, model: ModelRecord, state: EngineState): void {
    const { modelId, progress } = model;
    const pages = this.#kept.get(model)?.pages ?? new PagedState();
    for (const page of pages.update(state)) {
      this.#touch({ kind: 'page', keyHash, id: pageId(modelId, page), read: () => pages.get(page) });
    }
    const stored: StoredEngine = { revision: progress.revision, sizes: pages.sizes };
    this.#kept.set(model, { pages, stored });
    this.#touch({ kind: 'engine', keyHash, id: modelId, read: () => (model.engine === undefined ? undefined : stored) });
    this.#late.delete(model);
    this.#overdue.delete(model);
  }
}

function sizeOf(state: EngineState): number {
  let size = 0;
  for (const { length } of state.values()) size += length;
  return size;
}
