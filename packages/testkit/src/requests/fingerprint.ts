import { createHash } from 'node:crypto';

const SMALL_BYTES = 2_048;

/** Equal for equal bodies: a fast 53-bit hash plus the length for small bodies, SHA-1 for large ones. */
export function fingerprint(body: Uint8Array): string {
  return body.length <= SMALL_BYTES ? `${body.length}.${quickHash(body).toString(36)}` : createHash('sha1').update(body).digest('base64');
}

/** The fingerprint of a text. */
export function textFingerprint(text: string): string {
  return fingerprint(Buffer.from(text));
}

function quickHash(body: Uint8Array): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index] ?? 0;
    high = Math.imul(high ^ byte, 2_654_435_761);
    low = Math.imul(low ^ byte, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
}
