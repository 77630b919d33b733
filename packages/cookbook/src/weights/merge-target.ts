import type { FactorMatrix } from './adapter-pieces.js';
import type { BaseLayout } from './base-layout.js';
import type { MatrixPlace } from './low-rank.js';
import type { ChangePosition, PlannedWeight } from './merge-plan.js';
import type { SafetensorsReader } from './safetensors/safetensors-reader.js';
import { type StoredWeight, storedWeight } from './stored-weight.js';
import type { WeightFamily } from './weight-family.js';
import { weightsError } from './weights-error.js';

/** A weight that changes: how it is stored, and where each product is added. */
export interface MergeTarget {
  readonly name: string;
  /** The tensors that hold it. */
  readonly tensors: readonly string[];
  readonly changes: readonly { readonly a: FactorMatrix; readonly b: FactorMatrix; readonly place: MatrixPlace }[];
  decode(file: SafetensorsReader): Promise<Float32Array>;
  encode(values: Float32Array, file: SafetensorsReader): ReadonlyMap<string, Uint8Array>;
}

/** Finds the place of each change in a weight, and refuses changes that do not fit. */
export async function mergeTarget({ key, family, changes }: PlannedWeight, layout: BaseLayout): Promise<MergeTarget> {
  const stored = await storedWeight(key, layout);
  const gateUpShape = await layout.shapeOf(key.replace(/\.down_proj$/, '.gate_up_proj'));
  return {
    name: key,
    tensors: stored.tensors,
    decode: stored.decode,
    encode: stored.encode,
    changes: changes.map(({ a, b, position }) => ({ a, b, place: placeOf(key, stored, { a, b, position }, family, gateUpShape) })),
  };
}

function placeOf(
  key: string,
  { shape, isByRow }: StoredWeight,
  { a, b, position }: { readonly a: FactorMatrix; readonly b: FactorMatrix; readonly position: ChangePosition },
  family: WeightFamily,
  gateUpShape: readonly number[],
): MatrixPlace {
  const [rows, columns] = [b.rows, a.columns];
  const misfit = (): never => {
    throw weightsError(key, `a change of ${rows} x ${columns} does not fit into [${shape.join(', ')}].`);
  };
  if (position.kind === 'rows') {
    if (shape.length !== 2 || shape[1] !== columns || position.start + rows > (shape[0] as number)) misfit();
    // Only parts of a weight may be smaller than the weight.
    if (position.start === 0 && rows !== shape[0] && family.rowGroups.every(({ target }) => !key.endsWith(`.${target}.weight`))) misfit();
    return { start: position.start * columns, rowStep: columns, columnStep: 1 };
  }
  const { expert, part } = position;
  const width = part === undefined ? rows : 2 * rows;
  if (shape.length !== 3 || expert >= (shape[0] as number)) misfit();
  const fits = (first: number, second: number): boolean => shape[1] === first && shape[2] === second;
  const [fitsByColumn, fitsByRow] = [fits(columns, width), fits(width, columns)];
  if (!fitsByColumn && !fitsByRow) misfit();
  // A square weight fits both ways; the weight beside it, which is twice as wide, tells them apart.
  const isRowMajor = isByRow || (fitsByRow && (!fitsByColumn || (gateUpShape[1] ?? 0) > (gateUpShape[2] ?? 0)));
  if (isByRow && !fitsByRow) misfit();
  const step = part !== undefined && family.gateUp === 'alternating' ? 2 : 1;
  const first = part === undefined ? 0 : part * (family.gateUp === 'alternating' ? 1 : rows);
  const begin = expert * width * columns;
  if (isRowMajor) return { start: begin + first * columns, rowStep: step * columns, columnStep: 1 };
  return { start: begin + first, rowStep: step, columnStep: width };
}
