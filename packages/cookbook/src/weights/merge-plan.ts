import type { AdapterFiles } from './adapter-files.js';
import { type AdapterPiece, type FactorMatrix, piecesOf } from './adapter-pieces.js';
import type { BaseLayout } from './base-layout.js';
import { keyInBase, rowGroupOf } from './row-groups.js';
import { modelPaths, type WeightFamily, weightFamily } from './weight-family.js';
import { weightsError } from './weights-error.js';

/** Where a change belongs in a weight: from a row on, or at an expert, whose gate (0) and up (1) may share the weight. */
export type ChangePosition =
  | { readonly kind: 'rows'; readonly start: number }
  | { readonly kind: 'expert'; readonly expert: number; readonly part?: 0 | 1 | undefined };

/** One product that is added to a weight. */
export interface PlannedChange {
  readonly a: FactorMatrix;
  readonly b: FactorMatrix;
  readonly position: ChangePosition;
}

/** All changes of one weight. */
export interface PlannedWeight {
  /** The name in the base model; a quantized weight has the name that it would have otherwise. */
  readonly key: string;
  readonly family: WeightFamily;
  readonly changes: readonly PlannedChange[];
}

/** Decides which weights of a model an adapter changes, and where. Refuses an adapter with a module that the model lacks. */
export async function planMerge(adapter: AdapterFiles, layout: BaseLayout): Promise<PlannedWeight[]> {
  const family = weightFamily(layout);
  const toPath = modelPaths(family, layout);
  const pieces = adapter.modules.flatMap((module) => piecesOf(module, toPath(module.path), family));
  const byPath = new Map(pieces.map((piece) => [piece.path, piece]));
  const changes = new Map<string, PlannedChange[]>();
  for (const piece of pieces) {
    const { key, position } = positionOf(piece, byPath, family, layout);
    if (!isStored(key, layout)) throw weightsError(piece.path, `the model has no weight ${key}.`);
    changes.set(key, [...(changes.get(key) ?? []), { a: piece.a, b: piece.b, position }]);
  }
  return [...changes].map(([key, own]) => ({ key, family, changes: own }));
}

function positionOf(
  { path, expert }: AdapterPiece,
  byPath: ReadonlyMap<string, AdapterPiece>,
  family: WeightFamily,
  layout: BaseLayout,
): { readonly key: string; readonly position: ChangePosition } {
  const key = keyInBase(path, family);
  if (expert !== undefined && !isStored(key, layout)) return sharedExperts(key, expert);
  const place = rowGroupOf(path, family);
  const target = place && keyInBase(place.target, family);
  if (place === undefined || target === undefined || !isStored(target, layout)) return { key, position: { kind: 'rows', start: 0 } };
  const before = place.group.parts.slice(0, place.part).map((part) => {
    const sibling = byPath.get(place.target.replace(/[^.]+$/, part));
    if (sibling === undefined) throw weightsError(path, `the adapter has no ${part}, which says where its rows begin.`);
    return sibling.b.rows;
  });
  return { key: target, position: { kind: 'rows', start: before.reduce((sum, rows) => sum + rows, 0) } };
}

/** All experts in one weight; gate and up in one, too. */
function sharedExperts(key: string, expert: number): { readonly key: string; readonly position: ChangePosition } {
  const [, experts, projection] = /^(.*\.experts)\.\d+\.(\w+)\.weight$/.exec(key) as unknown as [string, string, string];
  const part = ({ gate_proj: 0, up_proj: 1 } as const)[projection];
  return { key: `${experts}.${part === undefined ? projection : 'gate_up_proj'}`, position: { kind: 'expert', expert, part } };
}

/** Whether the model has a weight, plain or quantized. */
function isStored(key: string, { keys }: BaseLayout): boolean {
  return keys.has(key) || keys.has(`${key}_packed`) || keys.has(`${key}_blocks`);
}
