import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '@tinkex/types';

/** Who holds a folder. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When the process started, as the system counts it; undefined where the system does not say. A later process may have the same pid. */
  readonly start: string | undefined;
}

const REFRESH_MS = 5_000;
/** A holder on another machine that has been silent for longer is gone. */
const SILENT_MS = 30_000;

/** Keeps other processes, and other servers of this process, out of a folder. Ends with the process, even if that is killed. */
export class FolderLock {
  readonly #path: string;
  readonly #refresh: NodeJS.Timeout;

  /** Throws `ConfigurationError` when the folder is in use. */
  constructor(dir: string) {
    this.#path = join(dir, 'lock');
    acquire(this.#path);
    this.#refresh = setInterval(() => touch(this.#path), REFRESH_MS).unref();
  }

  release(): void {
    clearInterval(this.#refresh);
    rmSync(this.#path, { force: true });
  }
}

function acquire(path: string): void {
  const own = JSON.stringify({ pid: process.pid, host: hostname(), start: startOf(process.pid) } satisfies Holder);
  for (;;) {
    try {
      writeFileSync(path, own, { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const text = readOrUndefined(path);
    if (text !== undefined) removeStale(path, text);
  }
}

/** Removes the lock of a holder that is gone. Throws when the holder is there. */
function removeStale(path: string, text: string): void {
  if (isHeld(path, text)) throw inUse(path, text);
  // Two processes may find the same stale lock. Only one rename of it succeeds, and a process that has moved a newer lock puts it back.
  const moved = `${path}-${randomUUID()}`;
  try {
    renameSync(path, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const found = readFileSync(moved, 'utf8');
  if (found !== text) linkSync(moved, path);
  rmSync(moved);
  if (found !== text) throw inUse(path, found);
}

function isHeld(path: string, text: string): boolean {
  const holder = parse(text);
  if (holder === undefined || holder.host !== hostname()) return ageMs(path) < SILENT_MS;
  return isRunning(holder.pid) && startOf(holder.pid) === holder.start;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** On Linux, the boot and the start time of a process. */
function startOf(pid: number): string | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  const boot = readOrUndefined('/proc/sys/kernel/random/boot_id');
  // The name of the program comes second, in parentheses, and may contain anything; the start time is the 20th field after it.
  const startTime = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return startTime === undefined || boot === undefined ? undefined : `${boot.trim()} ${startTime}`;
}

function inUse(path: string, text: string): ConfigurationError {
  const holder = parse(text);
  const who = holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`;
  return new ConfigurationError({
    message: `The state folder is in use by ${who} (${path}). Stop that server, or choose another folder.`,
    option: 'stateDir',
  });
}

function parse(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    // Its holder has been stopped while it wrote the file, or is writing it now.
    return undefined;
  }
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // The folder was removed; the next write of the state reports it.
  }
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
