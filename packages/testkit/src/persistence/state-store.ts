import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError } from '@tinkex/types';
import type { ServerContext } from '../state/server-context.js';
import { BlobStore, writeAtomically } from './blob-store.js';
import { restoreSnapshot } from './restore-snapshot.js';
import type { Snapshot } from './snapshot.js';
import { takeSnapshot } from './take-snapshot.js';

const SAVE_DELAY_MS = 500;

/**
 * Keeps a server's state in a folder: sessions, models with their weights and optimizers, samplers, checkpoints. It writes soon
 * after each change and when the server closes; a crash loses what happened since the last write.
 */
export class StateStore {
  readonly #dir: string;
  readonly #blobs: BlobStore;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(dir: string) {
    this.#dir = dir;
    this.#blobs = new BlobStore(join(dir, 'blobs'));
  }

  /** Loads the stored state into a new server. Throws `ConfigurationError` when the folder holds something else. */
  async load(server: ServerContext): Promise<void> {
    await mkdir(this.#dir, { recursive: true });
    const path = join(this.#dir, 'state.json');
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return;
    const snapshot = parsed(text);
    if (snapshot?.version !== 1) {
      throw new ConfigurationError({
        message: `${path} does not hold the state of a test server of this version.`,
        option: 'stateDir',
      });
    }
    server.ids.restore(snapshot.idCount);
    await restoreSnapshot(server, snapshot, this.#blobs);
  }

  /** Saves soon, in real time whatever clock the server has. */
  schedule(server: ServerContext): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // The save on close repeats the failure and reports it.
      this.save(server).catch(() => undefined);
    }, SAVE_DELAY_MS).unref();
  }

  /** Saves now, after any save in progress. */
  save(server: ServerContext): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const write = this.#writing.then(() => this.#write(server));
    this.#writing = write.catch(() => undefined);
    return write;
  }

  async #write(server: ServerContext): Promise<void> {
    const snapshot = await takeSnapshot(server, this.#blobs);
    await writeAtomically(join(this.#dir, 'state.json'), JSON.stringify(snapshot));
    await this.#blobs.keepOnly(blobsIn(snapshot));
  }
}

function parsed(text: string): Snapshot | undefined {
  try {
    return JSON.parse(text) as Snapshot;
  } catch {
    return undefined;
  }
}

function blobsIn({ tenants }: Snapshot): Set<string> {
  const all = tenants.flatMap(({ models, samplers, checkpoints }) => [...models, ...samplers, ...checkpoints]);
  return new Set(all.flatMap(({ files }) => Object.values(files ?? {})));
}
