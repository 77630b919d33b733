import type { BaseLayout } from './base-layout.js';
import { dequantizeInt4, INT4_PER_WORD, quantizeInt4 } from './quantization/int4.js';
import { dequantizeMxfp4, MXFP4_BLOCK, quantizeMxfp4 } from './quantization/mxfp4.js';
import { decodeFloats, encodeFloats, type FloatDtype, isFloatDtype, roundToBfloat16 } from './safetensors/float-values.js';
import type { SafetensorsReader } from './safetensors/safetensors-reader.js';
import { weightsError } from './weights-error.js';

/** A weight of a model: its shape, and how its values are stored. */
export interface StoredWeight {
  readonly shape: readonly number[];
  /** Whether each row of the matrix is contiguous for certain. Otherwise a weight of experts may have them as columns. */
  readonly isByRow: boolean;
  /** The tensors that hold the values. */
  readonly tensors: readonly string[];
  decode(file: SafetensorsReader): Promise<Float32Array>;
  /** The tensors for changed values, in the types that the file has. */
  encode(values: Float32Array, file: SafetensorsReader): ReadonlyMap<string, Uint8Array>;
}

/** How a weight is stored: as numbers, as int4 in groups (`_packed`, `_scale`), or as mxfp4 in blocks (`_blocks`, `_scales`). */
export async function storedWeight(key: string, layout: BaseLayout): Promise<StoredWeight> {
  if (layout.keys.has(key)) return plainWeight(key, await layout.shapeOf(key));
  if (layout.keys.has(`${key}_packed`)) return await int4Weight(key, layout);
  return await mxfp4Weight(key, layout);
}

function plainWeight(key: string, shape: readonly number[]): StoredWeight {
  const dtypeIn = (file: SafetensorsReader): FloatDtype => {
    const dtype = file.tensors.get(key)?.dtype ?? '';
    if (isFloatDtype(dtype)) return dtype;
    throw weightsError(key, `a weight of type ${dtype} cannot be merged. Use the model in bfloat16.`);
  };
  return {
    shape,
    isByRow: false,
    tensors: [key],
    decode: async (file) => decodeFloats(await file.read(key), dtypeIn(file)),
    encode: (values, file) => new Map([[key, encodeFloats(values, dtypeIn(file))]]),
  };
}

async function int4Weight(key: string, layout: BaseLayout): Promise<StoredWeight> {
  const [packedName, scaleName] = [`${key}_packed`, `${key}_scale`];
  const [rows = 0, words = 0] = await layout.shapeOf(packedName);
  const [, groups = 1] = await layout.shapeOf(scaleName);
  const columns = words * INT4_PER_WORD;
  const groupSize = columns / groups;
  return {
    shape: [rows, columns],
    isByRow: true,
    tensors: [packedName, scaleName],
    async decode(file) {
      const packed = int32s(await file.read(packedName));
      return dequantizeInt4({ packed, scale: decodeFloats(await file.read(scaleName), 'BF16') }, groupSize);
    },
    encode(values) {
      const { packed, scale } = quantizeInt4(roundToBfloat16(values), groupSize);
      return new Map([
        [packedName, new Uint8Array(packed.buffer)],
        [scaleName, encodeFloats(scale, 'BF16')],
      ]);
    },
  };
}

async function mxfp4Weight(key: string, layout: BaseLayout): Promise<StoredWeight> {
  const [blocksName, scalesName] = [`${key}_blocks`, `${key}_scales`];
  const [experts = 0, rows = 0, blocks = 0] = await layout.shapeOf(blocksName);
  return {
    shape: [experts, rows, blocks * MXFP4_BLOCK],
    isByRow: true,
    tensors: [blocksName, scalesName],
    decode: async (file) => dequantizeMxfp4({ blocks: await file.read(blocksName), scales: await file.read(scalesName) }),
    encode(values) {
      const quantized = quantizeMxfp4(roundToBfloat16(values));
      return new Map([
        [blocksName, quantized.blocks],
        [scalesName, quantized.scales],
      ]);
    },
  };
}

function int32s(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int32Array.from({ length: bytes.byteLength / 4 }, (_, index) => view.getInt32(index * 4, true));
}
