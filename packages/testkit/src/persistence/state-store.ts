import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CheckpointFiles } from '../engine/engine.js';
import type { ModelRecord } from '../state/records.js';
import type { ServerContext } from '../state/server-context.js';
import type { StateChanges, TableName } from '../state/state-changes.js';
import type { Tenant } from '../state/tenant.js';
import { BlobStore } from './blob-store.js';
import { EngineKeeper } from './engine-keeper.js';
import { FolderLock } from './folder-lock.js';
import type { Journal } from './journal.js';
import { restoreTenant } from './restore-state.js';
import { encodeEntries, StateFiles } from './state-files.js';
import { syncFolder } from './sync-folder.js';
import { SAVED_FIRST, TABLES } from './tables.js';
import { entryOf, type Touched } from './touched.js';

/** How soon a change is on disk that no reply waits for. With the time that the disk takes, within 500 ms. */
const DELAY_MS = 250;
const MIN_SNAPSHOT_BYTES = 4 << 20;
const SLICE_ENTRIES = 500;

/** When a change is on disk: `strict` is before it is acknowledged, `relaxed` that for saves and creations, and 500 ms for the rest. */
export type Durability = 'relaxed' | 'strict';

/** Why the state could not be written. */
export class StateWriteError extends Error {
  override readonly name = 'StateWriteError';
}

/**
 * Keeps a server's state in a folder. A change is appended to a journal before it is acknowledged, so it survives the end of this process;
 * when it also survives a power failure depends on the durability. Snapshots keep the journal short.
 */
export class StateStore implements StateChanges {
  readonly #dir: string;
  readonly #isStrict: boolean;
  readonly #files: StateFiles;
  readonly #touched = new Map<string, Touched>();
  readonly #engines: EngineKeeper;
  #server: ServerContext | undefined;
  #lock: FolderLock | undefined;
  #blobs: BlobStore | undefined;
  /** The last one takes what is appended; the others are waiting for a snapshot that replaces them. */
  #journals: Journal[] = [];
  #generation = 0;
  #snapshotBytes = 0;
  #compacting: Promise<void> | undefined;
  #idCount = 0;
  #isUrgent = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(dir: string, durability: Durability = 'relaxed') {
    this.#dir = dir;
    this.#isStrict = durability === 'strict';
    this.#files = new StateFiles(dir);
    this.#engines = new EngineKeeper(this.#isStrict, (touched) => this.#touch(touched));
  }

  /**
   * Loads the stored state into a new server. Throws `ConfigurationError` when the folder is in use, or holds something else.
   */
  async load(server: ServerContext): Promise<void> {
    mkdirSync(this.#dir, { recursive: true });
    this.#lock = new FolderLock(this.#dir);
    try {
      const { records, generation, ignoredBytes } = this.#files.read();
      const blobs = new BlobStore(join(this.#dir, 'blobs'));
      if (ignoredBytes > 0) warn(`${this.#dir} ends with an unfinished write of ${ignoredBytes} bytes: ignored.`);
      server.ids.restore(records.idCount);
      server.engine.counters?.restore(records.counters);
      for (const stored of records.tenants) {
        const tenant = await restoreTenant(server, stored, blobs);
        for (const model of tenant.models.values()) {
          const kept = stored.engineOf(model.modelId);
          if (kept !== undefined) this.#engines.restore(model, kept);
        }
      }
      this.#server = server;
      this.#blobs = blobs;
      this.#idCount = server.ids.count;
      this.#generation = generation;
      this.#startJournal();
      if (generation > 0) void this.#compact();
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  changed(tenant: Tenant, table: TableName, id: string): void {
    // While the state is being loaded nothing is new.
    if (this.#blobs === undefined) return;
    const blobs = this.#blobs;
    this.#touch({ kind: table, keyHash: tenant.keyHash, id, read: () => TABLES[table].read(tenant, id, blobs) });
    if (SAVED_FIRST.has(table)) this.#isUrgent = true;
  }

  trained(tenant: Tenant, model: ModelRecord): void | Promise<void> {
    model.progress.revision += 1;
    tenant.changed('progress', model.modelId);
    return this.#engines.trained(tenant, model);
  }

  settle(): Promise<void> | undefined {
    const isUrgent = this.#isUrgent || this.#isStrict;
    this.#write();
    return isUrgent && !this.#isSynced ? this.#sync() : undefined;
  }

  /** Writes what is left and gives the folder free. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#compacting;
    this.#engines.keepIdle();
    try {
      this.#write();
      await this.#sync();
      await this.#compact();
    } finally {
      clearTimeout(this.#timer);
      for (const journal of this.#journals) journal.close();
      this.#lock?.release();
    }
  }

  get #isSynced(): boolean {
    return this.#journals.every((journal) => journal.isSynced);
  }

  #touch(touched: Touched): void {
    this.#touched.set(`${touched.kind}\n${touched.keyHash}\n${touched.id}`, touched);
    this.#timer ??= setTimeout(() => this.#writeLate(), DELAY_MS).unref();
  }

  #writeLate(): void {
    this.#timer = undefined;
    this.#engines.keepIdle();
    try {
      this.#write();
    } catch {
      // Reported, and tried again after the next change.
      return;
    }
    // The next call of `settle` reports a failure.
    this.#sync().catch(() => undefined);
  }

  /** Appends what has changed. After a failure it stays to be written. */
  #write(): void {
    const { server, journal } = this.#open();
    if (server.ids.count !== this.#idCount) this.#touch({ kind: 'ids', keyHash: '', id: '', read: () => server.ids.count });
    for (const [id, value] of server.engine.counters?.takeChanged() ?? []) {
      this.#touch({ kind: 'counter', keyHash: '', id, read: () => value });
    }
    if (this.#touched.size === 0) return;
    try {
      journal.append(encodeEntries([...this.#touched.values()].map(entryOf)));
    } catch (cause) {
      throw this.#failed(cause);
    }
    this.#touched.clear();
    this.#isUrgent = false;
    this.#idCount = server.ids.count;
    if (journal.bytes > Math.max(MIN_SNAPSHOT_BYTES, 2 * this.#snapshotBytes)) void this.#compact();
  }

  async #sync(): Promise<void> {
    try {
      await this.#open().blobs.sync();
      for (const journal of [...this.#journals]) await journal.sync();
    } catch (cause) {
      throw this.#failed(cause);
    }
  }

  #failed(cause: unknown): StateWriteError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The state folder ${this.#dir} cannot be written: ${reason}. Make room or repair the disk; changes are refused until then.`;
    warn(message);
    return new StateWriteError(message, { cause });
  }

  #startJournal(): void {
    this.#generation += 1;
    this.#journals.push(this.#files.create(this.#files.path('journal', this.#generation)));
  }

  /** Replaces the journals so far by a snapshot. One at a time; a failure is reported and leaves the journals in place. */
  #compact(): Promise<void> {
    this.#compacting ??= this.#writeSnapshot()
      .catch((error: unknown) => void this.#failed(error))
      .finally(() => {
        this.#compacting = undefined;
      });
    return this.#compacting;
  }

  /**
   * The server continues meanwhile: what changes is in the new journal, which is read after the snapshot. A record may therefore be newer in the
   * snapshot than when it began, but never newer than the journal.
   */
  async #writeSnapshot(): Promise<void> {
    const { server, blobs } = this.#open();
    this.#write();
    const replaced = [...this.#journals];
    this.#startJournal();
    const generation = this.#generation;
    const temporary = join(this.#dir, 'snapshot.tmp');
    const snapshot = this.#files.create(temporary);
    const all = this.#all(server, blobs);
    for (let start = 0; start < all.length; start += SLICE_ENTRIES) {
      this.#write();
      snapshot.append(encodeEntries(all.slice(start, start + SLICE_ENTRIES).map(entryOf)));
      await nextTurn();
    }
    await blobs.sync();
    await snapshot.sync();
    for (const journal of [...this.#journals]) await journal.sync();
    this.#snapshotBytes = snapshot.bytes;
    snapshot.close();
    renameSync(temporary, this.#files.path('snapshot', generation));
    await syncFolder(this.#dir);
    this.#journals = this.#journals.filter((journal) => !replaced.includes(journal));
    for (const journal of replaced) journal.close();
    this.#files.removeBefore(generation);
    blobs.keepOnly(filesInUse(server));
  }

  /** Every record there is now. The list does not grow with what is added later. */
  #all(server: ServerContext, blobs: BlobStore): Touched[] {
    const all: Touched[] = [{ kind: 'ids', keyHash: '', id: '', read: () => server.ids.count }];
    for (const [id, value] of server.engine.counters?.entries() ?? []) all.push({ kind: 'counter', keyHash: '', id, read: () => value });
    for (const tenant of server.tenants.all()) {
      const { keyHash } = tenant;
      for (const [table, { ids, read }] of Object.entries(TABLES) as [TableName, (typeof TABLES)[TableName]][]) {
        for (const id of ids(tenant)) all.push({ kind: table, keyHash, id, read: () => read(tenant, id, blobs) });
      }
      for (const model of tenant.models.values()) all.push(...this.#engines.all(keyHash, model));
    }
    return all;
  }

  #open(): { readonly server: ServerContext; readonly blobs: BlobStore; readonly journal: Journal } {
    const journal = this.#journals.at(-1);
    if (this.#server === undefined || this.#blobs === undefined || journal === undefined) throw new Error('The state is not loaded yet.');
    return { server: this.#server, blobs: this.#blobs, journal };
  }
}

function* filesInUse({ tenants }: ServerContext): Generator<CheckpointFiles> {
  for (const { checkpoints, samplers } of tenants.all()) {
    for (const { files } of checkpoints.values()) yield files;
    for (const { files } of samplers.values()) if (files !== undefined) yield files;
  }
}

function warn(message: string): void {
  process.emitWarning(message, 'TestkitStateWarning');
}
