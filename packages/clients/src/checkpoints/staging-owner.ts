import { randomUuid } from '@tinkex/http/runtime';
import { fileSystem, paths } from '../node-files.js';

const FILE = 'owner.json';

/** Who builds a result in a staging directory: which process, and which of its claims. */
export interface Owner {
  /** Random, one per claim. */
  readonly claimKey: string;
  /** Random, one per process: a process knows its own claims, whatever its ID. */
  readonly processKey: string;
  readonly processId: number;
  /** When the process started, as the system counts it: two processes with the same ID, such as 1 in containers, differ in it. */
  readonly processStart?: string | undefined;
  /** For people: the time of the claim. */
  readonly claimedAt: string;
}

/** The claims that this process holds. */
const HELD = new Set<string>();
let processKey: string | undefined;

/** Makes this process the owner of an existing directory, with a new claim. */
export async function writeOwner(directory: string): Promise<Owner> {
  processKey ??= randomUuid();
  const { pid } = globalThis.process;
  const owner: Owner = {
    claimKey: randomUuid(),
    processKey,
    processId: pid,
    processStart: await startOf(pid),
    claimedAt: new Date().toISOString(),
  };
  // Held before it can be read: otherwise it would count as gone for a moment.
  HELD.add(owner.claimKey);
  await fileSystem().writeFile(paths().join(directory, FILE), `${JSON.stringify(owner)}\n`, { flag: 'wx', mode: 0o600, flush: true });
  return owner;
}

/** Forgets a claim: from now on its owner counts as gone. */
export function releaseClaim({ claimKey }: Owner): void {
  HELD.delete(claimKey);
}

/** The owner written in a directory; undefined when there is none, or it cannot be understood. */
export async function readOwner(directory: string): Promise<Owner | undefined> {
  const text = await readIfThere(paths().join(directory, FILE));
  try {
    const owner = JSON.parse(text ?? 'null') as Partial<Owner> | null;
    const isOwner = /^[\w-]+$/.test(owner?.claimKey ?? '') && Number.isSafeInteger(owner?.processId);
    return isOwner ? (owner as Owner) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the owner still works: its process runs and has not released the claim. */
export async function isAtWork(owner: Owner): Promise<boolean> {
  if (owner.processKey === processKey) return HELD.has(owner.claimKey);
  if (!isRunning(owner.processId)) return false;
  const start = await startOf(owner.processId);
  return start === undefined || owner.processStart === undefined || start === owner.processStart;
}

/** Identifies the current run of the machine. Undefined where the system does not tell. */
export async function bootOfMachine(): Promise<string | undefined> {
  return (await readIfThere('/proc/sys/kernel/random/boot_id'))?.trim();
}

function isRunning(processId: number): boolean {
  try {
    globalThis.process.kill(processId, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The start of a process, unique for its ID since the machine started. Undefined where the system does not tell. */
async function startOf(processId: number): Promise<string | undefined> {
  const [text, boot] = await Promise.all([readIfThere(`/proc/${processId}/stat`), bootOfMachine()]);
  // The name of the program is in parentheses and may contain any character; the start is the 20th field after it.
  const ticks = text?.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  return ticks === undefined ? undefined : `${boot ?? ''}/${ticks}`;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await fileSystem().readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
