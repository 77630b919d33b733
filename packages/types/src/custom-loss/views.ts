import { add } from './elementwise.js';
import { elementCount, GraphTensor, RefusedOperation, shapeText } from './graph-tensor.js';
import { ELLIPSIS, type GraphValue, Slice, wholeNumber } from './graph-values.js';
import { axisOf } from './reductions.js';

/** The same elements in another shape. */
export function reshape(x: GraphTensor, shape: readonly number[]): GraphTensor {
  if (elementCount(shape) !== x.data.length) {
    throw new RefusedOperation(`gives the shape ${shapeText(shape)} to a tensor of shape ${shapeText(x.shape)}`);
  }
  return pickElements(x, shape, (index) => index);
}

/** Without axes of size 1: all of them, or those named. */
export function squeeze(x: GraphTensor, axes: readonly number[] | undefined): GraphTensor {
  return reshape(
    x,
    x.shape.filter((size, axis) => size !== 1 || (axes !== undefined && !axes.includes(axis))),
  );
}

/** With a new axis of size 1. */
export function unsqueeze(x: GraphTensor, axis: number): GraphTensor {
  return reshape(x, x.shape.toSpliced(axisOf(axis, x.shape.length + 1), 0, 1));
}

/** `x[index]`: whole numbers, slices, `...`, `None`, or one mask of the shape of the tensor. */
export function indexElements(x: GraphTensor, index: GraphValue): GraphTensor {
  const items: readonly GraphValue[] = Array.isArray(index) ? index : [index as GraphValue];
  const [first] = items;
  if (items.length === 1 && first instanceof GraphTensor && first.isMask) return maskedElements(x, first);
  const consuming = items.filter((item) => item !== null && item !== ELLIPSIS).length;
  if (consuming > x.shape.length) throw new RefusedOperation(`uses ${consuming} indices on a tensor of shape ${shapeText(x.shape)}`);
  if (items.filter((item) => item === ELLIPSIS).length > 1) throw new RefusedOperation('uses more than one ellipsis');
  const rest = Array.from({ length: x.shape.length - consuming }, () => new Slice(null, null, 1));
  const at = items.indexOf(ELLIPSIS);
  const full = at < 0 ? [...items, ...rest] : items.toSpliced(at, 1, ...rest);
  return sliceElements(x, full);
}

interface Axis {
  readonly size: number;
  readonly stride: number;
}

function sliceElements(x: GraphTensor, items: readonly GraphValue[]): GraphTensor {
  const strides = x.shape.map((_, axis) => x.shape.slice(axis + 1).reduce((product, size) => product * size, 1));
  const axes: Axis[] = [];
  let offset = 0;
  let axis = 0;
  for (const item of items) {
    if (item === null) {
      axes.push({ size: 1, stride: 0 });
      continue;
    }
    const [size, stride] = [x.shape[axis] as number, strides[axis] as number];
    axis += 1;
    if (item instanceof Slice) {
      const { start, count } = sliceRange(item, size);
      offset += start * stride;
      axes.push({ size: count, stride: stride * item.step });
    } else offset += positionOf(wholeNumber(item, 'an index'), size) * stride;
  }
  const shape = axes.map((one) => one.size);
  return pickElements(x, shape, (index) => {
    let rest = index;
    let found = offset;
    for (let last = axes.length - 1; last >= 0; last -= 1) {
      const { size, stride } = axes[last] as Axis;
      found += (rest % size) * stride;
      rest = Math.floor(rest / size);
    }
    return found;
  });
}

function sliceRange({ start, stop, step }: Slice, size: number): { readonly start: number; readonly count: number } {
  if (step < 1) throw new RefusedOperation('uses a slice with a step below 1');
  const clip = (position: number) => Math.min(size, Math.max(0, position < 0 ? position + size : position));
  const [from, to] = [clip(start ?? 0), clip(stop ?? size)];
  return { start: from, count: Math.max(0, Math.ceil((to - from) / step)) };
}

function positionOf(index: number, size: number): number {
  const position = index < 0 ? index + size : index;
  if (position < 0 || position >= size) throw new RefusedOperation(`uses the index ${index} on an axis of size ${size}`);
  return position;
}

function maskedElements(x: GraphTensor, mask: GraphTensor): GraphTensor {
  if (shapeText(mask.shape) !== shapeText(x.shape)) {
    throw new RefusedOperation(`uses a mask of shape ${shapeText(mask.shape)} on a tensor of shape ${shapeText(x.shape)}`);
  }
  const chosen = [...mask.data.keys()].filter((index) => mask.data[index] !== 0);
  return pickElements(x, [chosen.length], (index) => chosen[index] as number);
}

function pickElements(x: GraphTensor, shape: readonly number[], sourceOf: (index: number) => number): GraphTensor {
  const data = new Float64Array(elementCount(shape));
  for (let i = 0; i < data.length; i += 1) data[i] = x.data[sourceOf(i)] as number;
  if (x.isMask) return GraphTensor.mask(shape, data);
  return GraphTensor.derived(shape, data, [x], (gradient) => {
    for (let i = 0; i < data.length; i += 1) add(x, sourceOf(i), gradient[i] as number);
  });
}
