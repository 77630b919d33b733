import { roundHalfToEven, roundToBfloat16 } from '../safetensors/float-values.js';

/** How many four-bit values an int32 holds. */
export const INT4_PER_WORD = 8;
/** How many neighbors in a row share a scale. */
export const INT4_GROUP = 32;

/** Four-bit weights: eight signed values per word, the first in the lowest bits, with one scale per group. */
export interface Int4Weights {
  readonly packed: Int32Array;
  /** Values of bfloat16. */
  readonly scale: Float32Array;
}

/** Packs values between -8 and 7. */
export function packInt4(values: ArrayLike<number>): Int32Array {
  const packed = new Int32Array(values.length / INT4_PER_WORD);
  for (let index = 0; index < values.length; index++) {
    const word = Math.floor(index / INT4_PER_WORD);
    packed[word] = (packed[word] as number) | (((values[index] as number) & 0xf) << (4 * (index % INT4_PER_WORD)));
  }
  return packed;
}

/** The values of packed words. */
export function unpackInt4(packed: Int32Array): Int8Array {
  const values = new Int8Array(packed.length * INT4_PER_WORD);
  for (let index = 0; index < values.length; index++) {
    const word = packed[Math.floor(index / INT4_PER_WORD)] as number;
    // Shifting left first makes the shift to the right repeat the sign.
    values[index] = (word << (28 - 4 * (index % INT4_PER_WORD))) >> 28;
  }
  return values;
}

/** Quantizes rows whose length is a multiple of the group, symmetrically: the largest value of a group becomes 7 or -7. */
export function quantizeInt4(values: Float32Array, groupSize: number = INT4_GROUP): Int4Weights {
  const scale = new Float32Array(values.length / groupSize);
  const quantized = new Int8Array(values.length);
  for (let group = 0; group < scale.length; group++) {
    const own = values.subarray(group * groupSize, (group + 1) * groupSize);
    const largest = own.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const step = Math.max(Math.fround(largest / 7), 1e-12);
    scale[group] = step;
    own.forEach((value, index) => {
      quantized[group * groupSize + index] = Math.min(7, Math.max(-8, roundHalfToEven(Math.fround(value / step))));
    });
  }
  return { packed: packInt4(quantized), scale: roundToBfloat16(scale) };
}

/** The values of quantized weights, as bfloat16 holds them. */
export function dequantizeInt4({ packed, scale }: Int4Weights, groupSize: number = INT4_GROUP): Float32Array {
  const values = Float32Array.from(unpackInt4(packed), (value, index) => value * (scale[Math.floor(index / groupSize)] as number));
  return roundToBfloat16(values);
}
