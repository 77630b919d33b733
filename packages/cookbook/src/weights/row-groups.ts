import { factorName } from './adapter-files.js';
import { type AdapterPiece, readMatrix } from './adapter-pieces.js';
import type { BaseLayout } from './base-layout.js';
import { tensorBytes } from './safetensors/dtype.js';
import type { SafetensorsReader } from './safetensors/safetensors-reader.js';
import type { TensorToWrite } from './safetensors/safetensors-writer.js';
import type { RowGroup, WeightFamily } from './weight-family.js';
import { weightsError } from './weights-error.js';

/** Modules that became one. */
export interface JoinedRows {
  readonly path: string;
  readonly rank: number;
  readonly tensors: readonly TensorToWrite[];
}

/** Finds the group that a module belongs to, and the path of the weight whose rows the group is. */
export function rowGroupOf(
  path: string,
  family: WeightFamily,
): { readonly group: RowGroup; readonly target: string; readonly part: number } | undefined {
  const leaf = path.slice(path.lastIndexOf('.') + 1);
  for (const group of family.rowGroups) {
    const part = group.parts.indexOf(leaf);
    if (part >= 0) return { group, target: `${path.slice(0, -leaf.length)}${group.target}`, part };
  }
  return undefined;
}

/**
 * Joins modules that are rows of one weight into one module: A is stacked, B has the parts along its diagonal, the rank is the sum. Modules that the
 * base model has apart, and those of families that keep them apart, stay.
 */
export async function joinRows(
  weights: SafetensorsReader,
  pieces: readonly AdapterPiece[],
  family: WeightFamily,
  layout: BaseLayout,
): Promise<{ readonly apart: readonly AdapterPiece[]; readonly joined: readonly JoinedRows[] }> {
  const apart: AdapterPiece[] = [];
  const groups = new Map<string, { readonly group: RowGroup; readonly found: (AdapterPiece | undefined)[] }>();
  for (const piece of pieces) {
    const place = rowGroupOf(piece.path, family);
    if (!place?.group.isJoinedInAdapter || !layout.keys.has(keyInBase(place.target, family))) {
      apart.push(piece);
      continue;
    }
    const known = groups.get(place.target) ?? { group: place.group, found: [] };
    known.found[place.part] = piece;
    groups.set(place.target, known);
  }
  const joined: JoinedRows[] = [];
  for (const [path, { group, found }] of groups) {
    const parts = group.parts.map((name, index) => found[index] ?? refuseMissing(path, name));
    const [rows = 0] = await layout.shapeOf(keyInBase(path, family));
    joined.push(joinParts(weights, path, parts, rows));
  }
  return { apart, joined };
}

/** The name of a module's weight in the files of the base model. */
export function keyInBase(path: string, family: WeightFamily): string {
  return `${family.inBase?.(path) ?? path}.weight`;
}

function joinParts(weights: SafetensorsReader, path: string, parts: readonly AdapterPiece[], rows: number): JoinedRows {
  const { tensor, columns } = (parts[0] as AdapterPiece).a;
  const { dtype } = tensor;
  const rank = parts.reduce((sum, { a }) => sum + a.rows, 0);
  const differs = parts.some(({ a, b }) => a.columns !== columns || a.tensor.dtype !== dtype || b.tensor.dtype !== dtype);
  if (differs || parts.reduce((sum, { b }) => sum + b.rows, 0) > rows) throw weightsError(path, 'its parts do not fit into one weight.');
  const stackA = async (): Promise<Uint8Array> => Buffer.concat(await Promise.all(parts.map(({ a }) => readMatrix(weights, a))));
  const diagonalB = async (): Promise<Uint8Array> => {
    const valueBytes = tensorBytes({ dtype, shape: [1] }) as number;
    const bytes = new Uint8Array(rows * rank * valueBytes);
    let [row, column] = [0, 0];
    for (const { b } of parts) {
      const own = await readMatrix(weights, b);
      const width = b.columns * valueBytes;
      for (let index = 0; index < b.rows; index++)
        bytes.set(own.subarray(index * width, (index + 1) * width), ((row + index) * rank + column) * valueBytes);
      row += b.rows;
      column += b.columns;
    }
    return bytes;
  };
  return {
    path,
    rank,
    tensors: [
      { name: factorName(path, 'A'), dtype, shape: [rank, columns], bytes: stackA },
      { name: factorName(path, 'B'), dtype, shape: [rows, rank], bytes: diagonalB },
    ],
  };
}

function refuseMissing(path: string, part: string): never {
  throw weightsError(path, `the adapter has no ${part}, which is a part of it. Merge the adapter instead with mergeAdapter().`);
}
