import type { CustomLossArgument } from './custom-loss-graph.js';
import { isArgumentList } from './graph-arguments.js';
import { GraphTensor, RefusedOperation } from './graph-tensor.js';

/** `start:stop:step` of an index. */
export class Slice {
  readonly start: number | null;
  readonly stop: number | null;
  readonly step: number;

  constructor(start: number | null, stop: number | null, step: number) {
    this.start = start;
    this.stop = stop;
    this.step = step;
  }
}

class Ellipsis {
  readonly text = '...';
}

/** `...` of an index. */
export const ELLIPSIS = new Ellipsis();

/** An element type, device, layout or memory format: read, and without effect where it is accepted. */
export class TorchConstant {
  readonly kind: string;
  readonly text: string;

  constructor(kind: string, text: string) {
    this.kind = kind;
    this.text = text;
  }
}

/** A value while a graph runs. Python's tuples and lists are arrays. */
export type GraphValue =
  | null
  | boolean
  | number
  | string
  | GraphTensor
  | Slice
  | Ellipsis
  | TorchConstant
  | ReadonlyMap<string, unknown>
  | readonly GraphValue[];

const FLOATS: Readonly<Record<string, number>> = { inf: Infinity, '-inf': -Infinity, nan: Number.NaN };
const CONSTANTS: ReadonlySet<string> = new Set(['dtype', 'device', 'layout', 'memory_format']);

/** The value of an argument, given the values of the nodes it refers to. The graph has been checked. */
export function argumentValue(argument: CustomLossArgument, nodes: ReadonlyMap<string, GraphValue>): GraphValue {
  if (argument === null || typeof argument !== 'object') return argument;
  if (isArgumentList(argument)) return argument.map((one) => argumentValue(one, nodes));
  const [[kind, content]] = Object.entries(argument) as [[string, never]];
  const values = (all: readonly CustomLossArgument[]) => all.map((one) => argumentValue(one, nodes));
  if (kind === 'ref') return nodes.get(content) as GraphValue;
  if (kind === 'tuple') return values(content);
  if (kind === 'ellipsis') return ELLIPSIS;
  if (kind === 'float') return FLOATS[content] as number;
  if (CONSTANTS.has(kind)) return new TorchConstant(kind, content);
  if (kind === 'slice') {
    const [start = null, stop = null, step = null] = values(content).map((one) => (one === null ? null : wholeNumber(one, 'slice')));
    return new Slice(start, stop, step ?? 1);
  }
  return new Map(Object.entries<CustomLossArgument>(content).map(([key, one]) => [key, argumentValue(one, nodes)]));
}

/** @throws `RefusedOperation` when the value is not a whole number. */
export function wholeNumber(value: GraphValue, what: string): number {
  const number = value instanceof GraphTensor && value.shape.length === 0 ? value.data[0] : value;
  if (typeof number === 'number' && Number.isInteger(number)) return number;
  throw new RefusedOperation(`needs a whole number as ${what}`);
}

/** @throws `RefusedOperation` when the value is neither a number nor a tensor. */
export function numeric(value: GraphValue, what: string): number | boolean | GraphTensor {
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof GraphTensor) return value;
  throw new RefusedOperation(`needs a tensor or a number as ${what}`);
}

/** @throws `RefusedOperation` when the value is not a tensor. */
export function tensor(value: GraphValue, what: string): GraphTensor {
  if (value instanceof GraphTensor) return value;
  throw new RefusedOperation(`needs a tensor as ${what}`);
}
