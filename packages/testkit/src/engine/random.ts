/** A stream of uniform numbers in [0, 1). */
export type RandomStream = () => number;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** A 32-bit hash of a string (FNV-1a over its UTF-16 units): stable across machines and versions. */
export function hashText(text: string, start = FNV_OFFSET): number {
  let hash = start;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  return hash >>> 0;
}

/** A 32-bit hash of bytes (FNV-1a). */
export function hashBytes(bytes: Uint8Array, start = FNV_OFFSET): number {
  let hash = start;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash >>> 0;
}

/** Spreads every input bit over the whole 32-bit word, so that neighboring seeds give unrelated streams. */
export function mixBits(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** The two 32-bit words of a seed as callers give it: any whole number of 64 bits, negative ones too. */
export function seedWords(seed: number | bigint): [low: number, high: number] {
  const bits = BigInt.asUintN(64, BigInt(seed));
  return [Number(bits & 0xffff_ffffn), Number(bits >> 32n)];
}

/**
 * A stream that depends on every one of `seeds` (32-bit words) and on their order: sfc32, in integer arithmetic, so equal on every machine.
 */
export function seededStream(...seeds: readonly number[]): RandomStream {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  for (const seed of seeds) {
    a = mixBits(a ^ (seed >>> 0));
    b = mixBits((b + seed) ^ a);
    c = mixBits((c + a) ^ (b << 5));
  }
  let counter = 1;
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let warmUp = 0; warmUp < 12; warmUp++) next();
  return next;
}

/** Fills `target` with uniform numbers of mean 0 and the given standard deviation. */
export function fillUniform(target: Float32Array, standardDeviation: number, random: RandomStream): Float32Array {
  const halfWidth = standardDeviation * Math.sqrt(3);
  for (let index = 0; index < target.length; index++) target[index] = (2 * random() - 1) * halfWidth;
  return target;
}
