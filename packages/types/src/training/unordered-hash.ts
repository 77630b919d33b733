import { invalidResponse } from '../errors/validation-error.js';

const MODULUS = 2n ** 61n - 1n;
const PRIME_1 = 11400714785074694791n;
const PRIME_2 = 14029467366897019727n;
const PRIME_5 = 2870177450012600261n;

/**
 * A hash of numbers that does not depend on their order: whole parts, sorted, hashed as the reference's runtime hashes a tuple.
 * Throws a `ValidationError` for NaN and infinities. The result is a signed 64-bit integer.
 */
export function unorderedHash(values: readonly number[]): bigint {
  const whole = values.map((value) => {
    if (!Number.isFinite(value)) throw invalidResponse('metrics', 'hash_unordered', `cannot be made of ${value}`);
    return BigInt(Math.trunc(value));
  });
  whole.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  let hash = PRIME_5;
  for (const value of whole) {
    hash = BigInt.asUintN(64, hash + BigInt.asUintN(64, integerHash(value)) * PRIME_2);
    hash = BigInt.asUintN(64, (hash << 31n) | (hash >> 33n));
    hash = BigInt.asUintN(64, hash * PRIME_1);
  }
  hash = BigInt.asUintN(64, hash + (BigInt(whole.length) ^ (PRIME_5 ^ 3527539n)));
  return BigInt.asIntN(64, hash === 2n ** 64n - 1n ? 1546275796n : hash);
}

function integerHash(value: bigint): bigint {
  const hash = value < 0n ? -(-value % MODULUS) : value % MODULUS;
  return hash === -1n ? -2n : hash;
}
