/** Bytes of one value of each type that the safetensors format knows. */
const DTYPE_BYTES: Readonly<Record<string, number>> = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
  F8_E8M0: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
};

/** A tensor of a safetensors file, without its values. */
export interface TensorInfo {
  readonly name: string;
  /** As the file spells it: `F32`, `BF16`, `I32` and so on. */
  readonly dtype: string;
  readonly shape: readonly number[];
}

/** How many values a tensor of this shape has. */
export function valueCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** How many bytes a tensor takes; undefined for a type that is unknown. */
export function tensorBytes({ dtype, shape }: Pick<TensorInfo, 'dtype' | 'shape'>): number | undefined {
  const bytes = DTYPE_BYTES[dtype];
  return bytes === undefined ? undefined : bytes * valueCount(shape);
}
