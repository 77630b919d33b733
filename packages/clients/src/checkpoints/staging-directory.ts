import { randomUuid } from '@tinkex/http/runtime';
import { ConfigurationError } from '@tinkex/types';
import { fileSystem, paths } from '../node-files.js';
import { isAtWork, type Owner, readOwner, releaseClaim, writeOwner } from './staging-owner.js';

const MAX_ROUNDS = 20;
const PRIVATE_MODE = 0o700;
/** Where the old target is while the new one is published. */
const REPLACED = 'replaced';
/** The key of an owner that cannot be read. */
const NOBODY = 'nobody';

/**
 * A private directory beside the target, where a result is built before it becomes visible. It is on the same file system as the target,
 * so the final rename is atomic. Its name follows from the target: what a killed process left is found by the next one, which takes it over.
 *
 * It has one owner. A claim is a directory with an `owner.json`, renamed to a place where no directory may be: to the staging directory
 * itself, or to `after-KEY` inside it, where KEY is the claim of an owner that is gone. A rename never replaces a directory with
 * content, so each claim has one successor, and a crash at any moment leaves a state that the next process understands.
 */
export class StagingDirectory implements AsyncDisposable {
  readonly path: string;
  readonly #target: string;
  readonly #owner: Owner;
  /** The topmost directory that was created for the target; removed again when nothing is published. */
  readonly #createdParent: string | undefined;

  private constructor(target: string, owner: Owner, createdParent: string | undefined) {
    this.path = stagingPath(target);
    this.#target = target;
    this.#owner = owner;
    this.#createdParent = createdParent;
  }

  /**
   * Claims the staging directory of a target, with whatever an owner that is gone has left in it.
   *
   * @throws `ConfigurationError` while its owner is at work.
   */
  static async claim(target: string): Promise<StagingDirectory> {
    const createdParent = await fileSystem().mkdir(paths().dirname(target), { recursive: true });
    const prepared = await prepareClaim(target);
    try {
      await takePlace(prepared.path, target);
    } catch (error) {
      releaseClaim(prepared.owner);
      await remove(prepared.path);
      throw error;
    }
    const staging = new StagingDirectory(target, prepared.owner, createdParent);
    await restoreReplaced(target);
    await removeLeftovers(target);
    return staging;
  }

  /** Makes `name` inside the staging directory the target. An existing target is swapped out first and deleted afterwards. */
  async publish(name: string, overwrite: boolean): Promise<void> {
    await this.#requireOwnership();
    const old = paths().join(this.path, REPLACED);
    const hadOld = overwrite && (await exists(this.#target));
    if (hadOld) await fileSystem().rename(this.#target, old);
    try {
      if (!overwrite) await refuseExisting(this.#target);
      await fileSystem().rename(paths().join(this.path, name), this.#target);
    } catch (error) {
      if (hadOld) await fileSystem().rename(old, this.#target);
      throw error;
    }
  }

  /** Removes everything that was not published. */
  async [Symbol.asyncDispose](): Promise<void> {
    const trash = `${this.path}-trash-${this.#owner.claimKey}`;
    try {
      if ((await lastOwner(this.path))?.claimKey !== this.#owner.claimKey) return;
      await fileSystem().rename(this.path, trash);
      await remove(trash);
    } finally {
      releaseClaim(this.#owner);
    }
    if (this.#createdParent !== undefined) await removeEmptyParents(paths().dirname(this.#target), this.#createdParent);
  }

  async #requireOwnership(): Promise<void> {
    const owner = await lastOwner(this.path);
    if (owner?.claimKey !== this.#owner.claimKey) throw inProgress(this.#target, owner);
  }
}

/** Throws when the target exists already. */
export async function refuseExisting(target: string): Promise<void> {
  if (!(await exists(target))) return;
  throw new ConfigurationError({
    message: `${target} exists already. Choose another directory, or pass overwrite: true to replace it.`,
    option: 'directory',
  });
}

function stagingPath(target: string): string {
  return paths().join(paths().dirname(target), `.${paths().basename(target)}.partial`);
}

async function prepareClaim(target: string): Promise<{ readonly path: string; readonly owner: Owner }> {
  for (let round = 0; ; round += 1) {
    const path = `${stagingPath(target)}-${randomUuid()}`;
    await fileSystem().mkdir(path, { recursive: true, mode: PRIVATE_MODE });
    try {
      return { path, owner: await writeOwner(path) };
    } catch (error) {
      // Another process may take the empty directory for a leftover.
      if (codeOf(error) === 'ENOENT' && round < MAX_ROUNDS) continue;
      await remove(path);
      throw error;
    }
  }
}

async function takePlace(prepared: string, target: string): Promise<void> {
  const path = stagingPath(target);
  let owner: Owner | undefined;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (await moveIfFree(prepared, path)) return;
    owner = await lastOwner(path);
    if (owner !== undefined && (await isAtWork(owner))) break;
    if (await moveIfFree(prepared, successorPath(path, owner))) return;
  }
  throw inProgress(target, owner);
}

/** The owner whose claim has no successor. */
async function lastOwner(path: string): Promise<Owner | undefined> {
  let owner: Owner | undefined;
  let current: string | undefined;
  for (let next = path; next !== current && (await exists(next)); next = successorPath(path, owner)) {
    current = next;
    owner = await readOwner(next);
  }
  return owner;
}

function successorPath(path: string, owner: Owner | undefined): string {
  return paths().join(path, `after-${owner?.claimKey ?? NOBODY}`);
}

/** Renames a directory with content. False when there is one at the new place, or nothing that could hold it. */
async function moveIfFree(from: string, to: string): Promise<boolean> {
  try {
    await fileSystem().rename(from, to);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    // Windows refuses with EPERM or EACCES what others call EEXIST.
    if ((code === 'EPERM' || code === 'EACCES') && (await exists(to))) return false;
    if (code === 'ENOENT' && (await exists(from))) return false;
    throw error;
  }
}

/** A process that was killed between the two renames of `publish` has left the old target in the staging directory. */
async function restoreReplaced(target: string): Promise<void> {
  const old = paths().join(stagingPath(target), REPLACED);
  if ((await exists(old)) && !(await exists(target))) await fileSystem().rename(old, target);
}

/** Removes what killed processes left beside the staging directory: trash, and claims that did not become one. */
async function removeLeftovers(target: string): Promise<void> {
  const prefix = `${paths().basename(stagingPath(target))}-`;
  const parent = paths().dirname(target);
  for (const name of await fileSystem().readdir(parent)) {
    if (!name.startsWith(prefix)) continue;
    const path = paths().join(parent, name);
    const owner = await readOwner(path);
    if (name.startsWith(`${prefix}trash-`)) await remove(path);
    else if (owner === undefined) await removeIfEmpty(path);
    else if (!(await isAtWork(owner))) await remove(path);
  }
}

async function removeEmptyParents(lowest: string, topmost: string): Promise<void> {
  for (let path = lowest; path.startsWith(topmost); path = paths().dirname(path)) if (!(await removeIfEmpty(path))) return;
}

async function removeIfEmpty(path: string): Promise<boolean> {
  return fileSystem()
    .rmdir(path)
    .then(
      () => true,
      () => false,
    );
}

async function remove(path: string): Promise<void> {
  try {
    await fileSystem().rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    // Another process removes the same leftover.
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await fileSystem().lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function inProgress(target: string, owner: Owner | undefined): ConfigurationError {
  const who = owner === undefined ? 'another process' : `process ${owner.processId}, since ${owner.claimedAt}`;
  return new ConfigurationError({
    message: `A download into ${target} is in progress (${who}). Wait until it ends, or choose another directory.`,
    option: 'directory',
  });
}
