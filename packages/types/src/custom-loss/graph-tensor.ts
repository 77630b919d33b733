/** Refuses a value that an operation cannot take. The node that asked for it is added later. */
export class RefusedOperation extends Error {
  override readonly name = 'RefusedOperation';
}

/** More elements than any loss of one datum needs: an outer product of two long inputs would exhaust the memory. */
const MAX_ELEMENTS = 1 << 24;

/** How the gradient of a tensor reaches what the tensor was computed from. */
interface Origin {
  readonly parents: readonly GraphTensor[];
  readonly propagate: (gradient: Float64Array) => void;
}

/** A tensor of float64 numbers, row-major, that remembers how to hand its gradient on. */
export class GraphTensor {
  readonly shape: readonly number[];
  readonly data: Float64Array;
  /** Whether it is a mask of zeros and ones. */
  readonly isMask: boolean;
  /** Whether the loss may be differentiated with respect to it. */
  readonly isTracked: boolean;
  /** 0 for inputs and constants, otherwise one more than its deepest parent. */
  readonly depth: number;
  readonly #origin: Origin | undefined;
  #gradient: Float64Array | undefined;

  private constructor(shape: readonly number[], data: Float64Array, isMask: boolean, isTracked: boolean, origin?: Origin) {
    this.shape = shape;
    this.data = data;
    this.isMask = isMask;
    this.isTracked = isTracked;
    this.#origin = origin;
    this.depth = origin === undefined ? 0 : 1 + Math.max(...origin.parents.map(({ depth }) => depth));
  }

  /** A tensor without a gradient. */
  static constant(shape: readonly number[], data: Float64Array): GraphTensor {
    return new GraphTensor(shape, data, false, false);
  }

  /** The result of a comparison. */
  static mask(shape: readonly number[], data: Float64Array): GraphTensor {
    return new GraphTensor(shape, data, true, false);
  }

  /** A tensor to differentiate with respect to. */
  static variable(shape: readonly number[], data: Float64Array): GraphTensor {
    return new GraphTensor(shape, data, false, true);
  }

  /**
   * A computed tensor.
   *
   * @param propagate - Adds to the gradients of the parents, given the gradient of this tensor.
   */
  static derived(
    shape: readonly number[],
    data: Float64Array,
    parents: readonly GraphTensor[],
    propagate: Origin['propagate'],
  ): GraphTensor {
    const tracked = parents.filter(({ isTracked }) => isTracked);
    if (tracked.length === 0) return GraphTensor.constant(shape, data);
    return new GraphTensor(shape, data, false, true, { parents: tracked, propagate });
  }

  /** The accumulated gradient, as long as `data`. Add to it. */
  get gradient(): Float64Array {
    this.#gradient ??= new Float64Array(this.data.length);
    return this.#gradient;
  }

  /** Adds the derivative of this single number to the gradients of everything it was computed from. */
  backpropagate(): void {
    if (!this.isTracked) return;
    this.gradient[0] = 1;
    for (const tensor of this.#ancestors()) tensor.#origin?.propagate(tensor.gradient);
  }

  /** This tensor and what it was computed from, each after everything that uses it. */
  #ancestors(): GraphTensor[] {
    const seen = new Set<GraphTensor>([this]);
    // A set that grows while it is walked through: no recursion, however deep the graph.
    for (const tensor of seen) for (const parent of tensor.#origin?.parents ?? []) seen.add(parent);
    return [...seen].sort((a, b) => b.depth - a.depth);
  }
}

/** How many elements a tensor of this shape has. */
export function elementCount(shape: readonly number[]): number {
  const count = shape.reduce((product, size) => product * size, 1);
  if (count > MAX_ELEMENTS) throw new RefusedOperation(`makes a tensor of ${count} elements; the limit is ${MAX_ELEMENTS}`);
  return count;
}

/** `[3, 2]`, for messages. */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`;
}
