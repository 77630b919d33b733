import { add } from './elementwise.js';
import { elementCount, GraphTensor, RefusedOperation } from './graph-tensor.js';

/** The axes to reduce, and whether they stay with size 1. */
export interface ReductionOptions {
  /** Undefined: all axes. */
  readonly axes: readonly number[] | undefined;
  readonly keepsAxes: boolean;
}

/** Adds up elements, times a factor that depends on how many there are. */
export function sumElements(x: GraphTensor, options: ReductionOptions, factor: (count: number) => number = () => 1): GraphTensor {
  const { shape, groupOf, groupSize } = groups(x, options);
  const scale = factor(groupSize);
  const data = new Float64Array(elementCount(shape));
  for (let i = 0; i < x.data.length; i += 1) data[groupOf(i)] = (data[groupOf(i)] as number) + (x.data[i] as number);
  for (let i = 0; i < data.length; i += 1) data[i] = (data[i] as number) * scale;
  return GraphTensor.derived(shape, data, [x], (gradient) => {
    for (let i = 0; i < x.data.length; i += 1) add(x, i, (gradient[groupOf(i)] as number) * scale);
  });
}

/** The mean of elements. Of none it is NaN, as in torch. */
export function averageElements(x: GraphTensor, options: ReductionOptions): GraphTensor {
  return sumElements(x, options, (count) => 1 / count);
}

/** The largest elements. Equal ones share the gradient, as in torch. */
export function largestElements(x: GraphTensor, options: ReductionOptions): GraphTensor {
  return extremeElements(x, options, (candidate, best) => candidate > best || Number.isNaN(candidate));
}

/** The smallest elements. Equal ones share the gradient, as in torch. */
export function smallestElements(x: GraphTensor, options: ReductionOptions): GraphTensor {
  return extremeElements(x, options, (candidate, best) => candidate < best || Number.isNaN(candidate));
}

function extremeElements(x: GraphTensor, options: ReductionOptions, isBetter: (candidate: number, best: number) => boolean): GraphTensor {
  const { shape, groupOf, groupSize } = groups(x, options);
  if (groupSize === 0) throw new RefusedOperation('has no elements to choose from');
  const data = new Float64Array(elementCount(shape));
  const counts = new Float64Array(data.length);
  for (let i = 0; i < x.data.length; i += 1) {
    const [group, value] = [groupOf(i), x.data[i] as number];
    if (counts[group] === 0 || isBetter(value, data[group] as number)) {
      data[group] = value;
      counts[group] = 1;
    } else if (value === data[group]) counts[group] = (counts[group] as number) + 1;
  }
  return GraphTensor.derived(shape, data, [x], (gradient) => {
    for (let i = 0; i < x.data.length; i += 1) {
      const group = groupOf(i);
      if (x.data[i] === data[group]) add(x, i, (gradient[group] as number) / (counts[group] as number));
    }
  });
}

interface Groups {
  readonly shape: readonly number[];
  /** Which element of the result an element contributes to. */
  readonly groupOf: (index: number) => number;
  readonly groupSize: number;
}

function groups({ shape, data }: GraphTensor, { axes, keepsAxes }: ReductionOptions): Groups {
  const reduced = new Set(axes ?? shape.keys());
  const kept = shape.map((size, axis) => (reduced.has(axis) ? 1 : size));
  const groupSize = [...reduced].reduce((product, axis) => product * (shape[axis] as number), 1);
  const result = keepsAxes ? kept : shape.filter((_, axis) => !reduced.has(axis));
  if (reduced.size === shape.length) return { shape: result, groupOf: () => 0, groupSize: data.length };
  const groupOf = (index: number): number => {
    let rest = index;
    let group = 0;
    let stride = 1;
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const position = rest % (shape[axis] as number);
      rest = (rest - position) / (shape[axis] as number);
      if (reduced.has(axis)) continue;
      group += position * stride;
      stride *= shape[axis] as number;
    }
    return group;
  };
  return { shape: result, groupOf, groupSize };
}

/** An axis counted from the front; negative ones count from the end. */
export function axisOf(axis: number, rank: number): number {
  const found = axis < 0 ? axis + rank : axis;
  if (!Number.isInteger(found) || found < 0 || found >= Math.max(1, rank)) {
    throw new RefusedOperation(`names the axis ${axis} of a tensor with ${rank} axes`);
  }
  return found;
}
