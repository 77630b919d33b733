import { roundToBfloat16 } from '../safetensors/float-values.js';

/** How many neighbors in a row share an exponent. */
export const MXFP4_BLOCK = 32;
const LARGEST = 6;
/** What the lower three bits of a value stand for; the fourth is the sign. */
const MAGNITUDES = [0, 0.5, 1, 1.5, 2, 3, 4, LARGEST] as const;
const EXPONENT_BIAS = 127;

/** Four-bit floats: two per byte, the first in the lower half, with one power of two per block. */
export interface Mxfp4Weights {
  readonly blocks: Uint8Array;
  /** Exponents plus 127. */
  readonly scales: Uint8Array;
}

/** Quantizes rows whose length is a multiple of 32. */
export function quantizeMxfp4(values: Float32Array): Mxfp4Weights {
  const scales = new Uint8Array(values.length / MXFP4_BLOCK);
  const blocks = new Uint8Array(values.length / 2);
  for (let block = 0; block < scales.length; block++) {
    const own = values.subarray(block * MXFP4_BLOCK, (block + 1) * MXFP4_BLOCK);
    const largest = own.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12);
    const exponent = Math.min(127, Math.max(-127, Math.ceil(Math.log2(largest / LARGEST))));
    scales[block] = exponent + EXPONENT_BIAS;
    own.forEach((value, index) => {
      const at = (block * MXFP4_BLOCK + index) >> 1;
      blocks[at] = (blocks[at] as number) | (nearestCode(value / 2 ** exponent) << (index % 2 === 0 ? 0 : 4));
    });
  }
  return { blocks, scales };
}

/** The values of quantized weights, as bfloat16 holds them. */
export function dequantizeMxfp4({ blocks, scales }: Mxfp4Weights): Float32Array {
  const values = new Float32Array(blocks.length * 2);
  for (let index = 0; index < values.length; index++) {
    const code = ((blocks[index >> 1] as number) >> (index % 2 === 0 ? 0 : 4)) & 0xf;
    const size = (MAGNITUDES[code & 7] as number) * 2 ** ((scales[Math.floor(index / MXFP4_BLOCK)] as number) - EXPONENT_BIAS);
    values[index] = code >= 8 ? -size : size;
  }
  return roundToBfloat16(values);
}

/** The code of the nearest value; of two that are equally near, the smaller. What rounds to zero has no sign. */
function nearestCode(value: number): number {
  const size = Math.abs(value);
  let nearest = 0;
  for (let code = 1; code < MAGNITUDES.length; code++) {
    if (Math.abs(size - (MAGNITUDES[code] as number)) < Math.abs(size - (MAGNITUDES[nearest] as number))) nearest = code;
  }
  return value < 0 && nearest > 0 ? nearest + 8 : nearest;
}
