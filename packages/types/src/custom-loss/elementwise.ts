import { elementCount, GraphTensor, RefusedOperation, shapeText } from './graph-tensor.js';

/** A number or a tensor: what elementwise operations take. */
export type Numeric = number | boolean | GraphTensor;

/** A function of one number, with its derivative given the input and the value. */
export interface UnaryRule {
  readonly value: (x: number) => number;
  /** Missing: the derivative is zero everywhere. */
  readonly slope?: (x: number, y: number) => number;
}

/** A function of two numbers, with its derivatives given the inputs and the value. */
export interface BinaryRule {
  readonly value: (a: number, b: number) => number;
  readonly slopes: readonly [(a: number, b: number, y: number) => number, (a: number, b: number, y: number) => number];
}

/** Applies a function to each element. A plain number stays one. */
export function mapElements(rule: UnaryRule, x: Numeric): Numeric {
  if (!(x instanceof GraphTensor)) return rule.value(Number(x));
  const data = x.data.map(rule.value);
  const { slope } = rule;
  if (slope === undefined) return GraphTensor.constant(x.shape, data);
  return GraphTensor.derived(x.shape, data, [x], (gradient) => {
    for (let i = 0; i < data.length; i += 1) add(x, i, (gradient[i] as number) * slope(x.data[i] as number, data[i] as number));
  });
}

/** Applies a function to each pair of elements of two values that broadcast together. Two plain numbers give one. */
export function combineElements({ value, slopes }: BinaryRule, a: Numeric, b: Numeric): Numeric {
  if (!(a instanceof GraphTensor || b instanceof GraphTensor)) return value(Number(a), Number(b));
  const [left, right] = [toTensor(a), toTensor(b)];
  const { shape, indices } = broadcast(left, right);
  const [leftIndex, rightIndex] = indices as [ElementIndex, ElementIndex];
  const data = new Float64Array(elementCount(shape));
  for (let i = 0; i < data.length; i += 1) data[i] = value(left.data[leftIndex(i)] as number, right.data[rightIndex(i)] as number);
  return GraphTensor.derived(shape, data, [left, right], (gradient) => {
    for (let i = 0; i < data.length; i += 1) {
      const [l, r] = [leftIndex(i), rightIndex(i)];
      const [x, y, result] = [left.data[l] as number, right.data[r] as number, data[i] as number];
      if (left.isTracked) add(left, l, (gradient[i] as number) * slopes[0](x, y, result));
      if (right.isTracked) add(right, r, (gradient[i] as number) * slopes[1](x, y, result));
    }
  });
}

/** Compares each pair of elements: a mask, or true or false for two plain numbers. */
export function compareElements(holds: (a: number, b: number) => boolean, a: Numeric, b: Numeric): boolean | GraphTensor {
  if (!(a instanceof GraphTensor || b instanceof GraphTensor)) return holds(Number(a), Number(b));
  const [left, right] = [toTensor(a), toTensor(b)];
  const { shape, indices } = broadcast(left, right);
  const [leftIndex, rightIndex] = indices as [ElementIndex, ElementIndex];
  const data = new Float64Array(elementCount(shape));
  for (let i = 0; i < data.length; i += 1) {
    data[i] = holds(left.data[leftIndex(i)] as number, right.data[rightIndex(i)] as number) ? 1 : 0;
  }
  return GraphTensor.mask(shape, data);
}

/** Chooses each element from `a` where the mask holds and from `b` elsewhere. */
export function chooseElements(mask: GraphTensor, a: Numeric, b: Numeric): GraphTensor {
  const [yes, no] = [toTensor(a), toTensor(b)];
  const { shape, indices } = broadcast(mask, yes, no);
  const [maskIndex, yesIndex, noIndex] = indices as [ElementIndex, ElementIndex, ElementIndex];
  const isChosen = (i: number) => mask.data[maskIndex(i)] !== 0;
  const data = new Float64Array(elementCount(shape));
  for (let i = 0; i < data.length; i += 1) data[i] = (isChosen(i) ? yes.data[yesIndex(i)] : no.data[noIndex(i)]) as number;
  return GraphTensor.derived(shape, data, [yes, no], (gradient) => {
    for (let i = 0; i < data.length; i += 1) {
      if (isChosen(i)) add(yes, yesIndex(i), gradient[i] as number);
      else add(no, noIndex(i), gradient[i] as number);
    }
  });
}

/** A number as a tensor without dimensions. */
export function toTensor(value: Numeric): GraphTensor {
  return value instanceof GraphTensor ? value : GraphTensor.constant([], Float64Array.of(Number(value)));
}

/** Adds to one element of a gradient. A tensor without a gradient ignores it. */
export function add(tensor: GraphTensor, index: number, amount: number): void {
  if (tensor.isTracked) tensor.gradient[index] = (tensor.gradient[index] as number) + amount;
}

/** The index in a tensor that belongs to an index of the broadcast result. */
type ElementIndex = (index: number) => number;

/** The common shape of tensors, by the rules of torch: sizes are aligned at the end, and a size of 1 is repeated. */
function broadcast(...tensors: readonly GraphTensor[]): { readonly shape: readonly number[]; readonly indices: readonly ElementIndex[] } {
  const rank = Math.max(...tensors.map(({ shape }) => shape.length));
  const shape = Array.from({ length: rank }, (_, axis) => {
    const sizes = tensors.map((tensor) => tensor.shape[axis - rank + tensor.shape.length] ?? 1);
    const size = sizes.find((one) => one !== 1) ?? 1;
    if (sizes.every((one) => one === 1 || one === size)) return size;
    throw new RefusedOperation(`combines shapes that do not fit: ${tensors.map((one) => shapeText(one.shape)).join(' and ')}`);
  });
  return { shape, indices: tensors.map((tensor) => elementIndex(tensor.shape, shape)) };
}

function elementIndex(from: readonly number[], to: readonly number[]): ElementIndex {
  if (from.length === to.length && from.every((size, axis) => size === to[axis])) return (index) => index;
  if (from.every((size) => size === 1)) return () => 0;
  const offset = to.length - from.length;
  return (index) => {
    let rest = index;
    let found = 0;
    let stride = 1;
    for (let axis = to.length - 1; axis >= offset; axis -= 1) {
      const position = rest % (to[axis] as number);
      rest = (rest - position) / (to[axis] as number);
      const size = from[axis - offset] as number;
      if (size !== 1) found += position * stride;
      stride *= size;
    }
    return found;
  };
}
