const MASK_32 = 0xffffffffn;
const MASK_64 = (1n << 64n) - 1n;
const MASK_128 = (1n << 128n) - 1n;
/** The multiplier of the 128-bit PCG generator. */
const PCG_MULTIPLIER = 47026247687942121848144207491837523525n;

/**
 * The permutation of `0 … length - 1` that `numpy.random.default_rng(seed).permutation(length)` gives, so that a run has the same order in both languages.
 *
 * @param seed - A whole number from 0 up.
 * @param length - Below 2³².
 */
export function numpyPermutation(seed: number, length: number): Uint32Array {
  return new NumpyGenerator(seed).permutation(length);
}

/** `numpy.random.default_rng(seed)`: what it draws depends on what it has drawn before. */
export class NumpyGenerator {
  readonly #next: () => number;

  constructor(seed: number | bigint) {
    this.#next = pcg64(BigInt(seed));
  }

  permutation(length: number): Uint32Array {
    const order = Uint32Array.from({ length }, (_, index) => index);
    for (let last = length - 1; last > 0; last--) {
      const other = drawUpTo(last, this.#next);
      const moved = order[last] as number;
      order[last] = order[other] as number;
      order[other] = moved;
    }
    return order;
  }

  /** `integers(0, 2**63)`, on a generator that has not drawn half a word. */
  integer63(): bigint {
    const low = BigInt(this.#next());
    return ((BigInt(this.#next()) << 32n) | low) >> 1n;
  }
}

/** An unbiased number from 0 to `limit`: draws until one fits. */
function drawUpTo(limit: number, next: () => number): number {
  const mask = 0xffffffff >>> Math.clz32(limit);
  for (;;) {
    const value = (next() & mask) >>> 0;
    if (value <= limit) return value;
  }
}

/** numpy's PCG64 (XSL-RR 128/64), 32 bits at a time: the low half of each output first. */
function pcg64(seed: bigint): () => number {
  const [stateHigh, stateLow, incrementHigh, incrementLow] = seedSequence(seed) as [bigint, bigint, bigint, bigint];
  const increment = ((((incrementHigh << 64n) | incrementLow) << 1n) | 1n) & MASK_128;
  const step = (state: bigint) => (state * PCG_MULTIPLIER + increment) & MASK_128;
  let state = step((step(0n) + ((stateHigh << 64n) | stateLow)) & MASK_128);
  let upperHalf: number | undefined;
  return () => {
    if (upperHalf !== undefined) {
      const value = upperHalf;
      upperHalf = undefined;
      return value;
    }
    state = step(state);
    const folded = (state >> 64n) ^ (state & MASK_64);
    const rotation = state >> 122n;
    const output = ((folded >> rotation) | (folded << (64n - rotation))) & MASK_64;
    upperHalf = Number(output >> 32n);
    return Number(output & MASK_32);
  };
}

/** The first four 64-bit words of numpy's `SeedSequence(seed)`. */
function seedSequence(seed: bigint): bigint[] {
  const entropy = [Number(seed & MASK_32), Number((seed >> 32n) & MASK_32)];
  const hash = hasher(0x43b0d7e5, 0x931e8875);
  const pool = [0, 1, 2, 3].map((index) => hash(entropy[index] ?? 0));
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mix(pool[to] as number, hash(pool[from] as number));
  }
  const draw = hasher(0x8b51f9dd, 0x58f38ded);
  const words = Array.from({ length: 8 }, (_, index) => BigInt(draw(pool[index % 4] as number)));
  return [0, 2, 4, 6].map((low) => ((words[low + 1] as bigint) << 32n) | (words[low] as bigint));
}

function hasher(initial: number, multiplier: number): (value: number) => number {
  let constant = initial;
  return (value) => {
    const mixed = value ^ constant;
    constant = Math.imul(constant, multiplier);
    const product = Math.imul(mixed, constant);
    return (product ^ (product >>> 16)) >>> 0;
  };
}

function mix(left: number, right: number): number {
  const mixed = (Math.imul(left, 0xca01f9dd) - Math.imul(right, 0x4973f715)) | 0;
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
