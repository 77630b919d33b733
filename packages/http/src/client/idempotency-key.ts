import { randomFillSync } from 'node:crypto';

const UUID_BYTES = 16;
const HEX = Buffer.from('0123456789abcdef', 'latin1');
/** Where the 32 digits of the identifier go; the dashes and the version stay. */
const key = Buffer.from('tinkex-retry-00000000-0000-4000-8000-000000000000', 'latin1');
const positions = [...key.keys()].filter((index) => index >= 'tinkex-retry-'.length && key[index] !== 0x2d);
const random = Buffer.allocUnsafe(UUID_BYTES * 256);
let used = random.length;

/**
 * Names one call, over all its attempts, to the server: `tinkex-retry-` and a random UUID (version 4). Written digit by digit
 * into one buffer: `crypto.randomUUID()` glues twenty pieces together, which every copy into a request has to undo.
 */
export function newIdempotencyKey(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  for (let digit = 0; digit < positions.length; digit += 1) {
    const byte = random[used + (digit >> 1)] as number;
    const nibble = digit % 2 === 0 ? byte >> 4 : byte & 0x0f;
    key[positions[digit] as number] = HEX[digit === 12 ? 4 : digit === 16 ? (nibble & 0x3) | 0x8 : nibble] as number;
  }
  used += UUID_BYTES;
  return key.toString('latin1');
}

/** GET and HEAD change nothing and carry no key. */
export function needsIdempotencyKey(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}
