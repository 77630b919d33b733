import { type FactorMatrix, readMatrix } from './adapter-pieces.js';
import { decodeFloats, isFloatDtype } from './safetensors/float-values.js';
import type { SafetensorsReader } from './safetensors/safetensors-reader.js';
import { weightsError } from './weights-error.js';

/** The product of two factors, not multiplied yet. */
export interface LowRankFactors {
  /** `[rank, columns]` */
  readonly a: Float32Array;
  /** `[rows, rank]` */
  readonly b: Float32Array;
  readonly rows: number;
  readonly columns: number;
  readonly rank: number;
}

/** Where a matrix lies in a flat array: the value at (row, column) is at `start + row * rowStep + column * columnStep`. */
export interface MatrixPlace {
  readonly start: number;
  readonly rowStep: number;
  readonly columnStep: number;
}

/** Reads two factors of an adapter. */
export async function readFactors(
  weights: SafetensorsReader,
  { a, b }: { readonly a: FactorMatrix; readonly b: FactorMatrix },
): Promise<LowRankFactors> {
  const read = async (matrix: FactorMatrix): Promise<Float32Array> => {
    const { dtype, name } = matrix.tensor;
    if (!isFloatDtype(dtype)) throw weightsError(name, `an adapter of type ${dtype} cannot be merged.`);
    return decodeFloats(await readMatrix(weights, matrix), dtype);
  };
  return { a: await read(a), b: await read(b), rows: b.rows, columns: a.columns, rank: a.rows };
}

/** Adds `scale * b * a` to the values at a place. */
export function addLowRank(values: Float32Array, { a, b, rows, columns, rank }: LowRankFactors, place: MatrixPlace, scale: number): void {
  const sums = new Float64Array(columns);
  for (let row = 0; row < rows; row++) {
    sums.fill(0);
    for (let index = 0; index < rank; index++) {
      const factor = Math.fround((b[row * rank + index] as number) * scale);
      if (factor === 0) continue;
      const offset = index * columns;
      for (let column = 0; column < columns; column++) sums[column] = (sums[column] as number) + factor * (a[offset + column] as number);
    }
    let at = place.start + row * place.rowStep;
    for (let column = 0; column < columns; column++, at += place.columnStep)
      values[at] = (values[at] as number) + Math.fround(sums[column] as number);
  }
}
