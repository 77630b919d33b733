import { findNodeModule } from './node-module.js';

/** Fills an array with secure random bytes. At most 65,536. */
export function fillWithRandom(bytes: Uint8Array): void {
  const crypto = findNodeModule('node:crypto');
  // Node loads its Web Crypto on first use, which takes longer than all else that a first request needs.
  if (crypto === undefined) globalThis.crypto.getRandomValues(bytes);
  else crypto.randomFillSync(bytes);
}

/** A random UUID, version 4. */
export function randomUuid(): string {
  return (findNodeModule('node:crypto') ?? globalThis.crypto).randomUUID();
}
