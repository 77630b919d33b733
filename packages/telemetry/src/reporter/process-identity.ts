import { randomUUID } from 'node:crypto';
import { type as operatingSystem } from 'node:os';

const slot = Symbol.for('tinkex.processUuid');

/** One id for this process, the same for all sessions and for all copies of this package in it. */
export function processUuid(): string {
  const shared = globalThis as { [slot]?: string };
  shared[slot] ??= randomUUID();
  return shared[slot];
}

/** The operating system as the service names it: `Linux`, `Darwin`, `Windows`. */
export function platformName(): string {
  const name = operatingSystem();
  return name === 'Windows_NT' ? 'Windows' : name;
}
