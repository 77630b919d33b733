/** How a relation finds the position that it copies from. */
export interface CopyRelations {
  /** Copies the token this many places back. */
  readonly offsets: number;
  /** Lengths of n-grams that are looked up at each of `depths` places: where did this n-gram stand last? */
  readonly orders: readonly number[];
  readonly depths: number;
  /** Which token is copied then: the n-th after the n-gram, or before it. */
  readonly steps: readonly number[];
  /** Lengths of n-grams that end here, for which the token after their last occurrence is copied. */
  readonly suffixes: readonly number[];
}

export const RELATIONS: CopyRelations = {
  offsets: 16,
  orders: [1, 2, 4],
  depths: 12,
  steps: [-2, -1, 1, 2, 3],
  suffixes: [3, 6, 8, 16],
};

/** The number of relations. */
export const RELATION_COUNT =
  RELATIONS.offsets + RELATIONS.orders.length * RELATIONS.depths * RELATIONS.steps.length + RELATIONS.suffixes.length;
