import { fillWithRandom, findNodeModule } from '@tinkex/http/runtime';

const SALT = new Uint32Array(4);

/** A text from which a credential cannot be read, equal for equal credentials of this process. 32 hexadecimal digits. */
export function credentialHash(credential: string): string {
  const crypto = findNodeModule('node:crypto');
  return crypto === undefined ? saltedHash(credential) : crypto.createHash('sha256').update(credential).digest('hex').slice(0, 32);
}

/**
 * For runtimes whose only SHA-256 is asynchronous: four 32-bit hashes (FNV-1a), each with its own random salt. 128 bits tell credentials apart, and say less
 * than a credential holds.
 */
export function saltedHash(credential: string): string {
  if (SALT.every((word) => word === 0)) fillWithRandom(new Uint8Array(SALT.buffer));
  return Array.from(SALT, (salt) => {
    let hash = (salt ^ 0x811c9dc5) >>> 0;
    for (let index = 0; index < credential.length; index += 1) hash = Math.imul(hash ^ credential.charCodeAt(index), 0x01000193) >>> 0;
    return (Math.imul(hash ^ (hash >>> 15), salt | 1) >>> 0).toString(16).padStart(8, '0');
  }).join('');
}
