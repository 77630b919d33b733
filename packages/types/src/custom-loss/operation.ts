import { RefusedOperation } from './graph-tensor.js';
import { type GraphValue, TorchConstant } from './graph-values.js';

/** The arguments of a call by the names of the parameters. Missing ones are not there. */
export type Arguments = ReadonlyMap<string, GraphValue>;

/** One allowed operation. */
export interface Operation {
  /** Qualified names, such as `torch.exp` and `operator.mul`. */
  readonly functions: readonly string[];
  /** Names of tensor methods. The tensor is the first parameter. */
  readonly methods: readonly string[];
  /** In the order of torch. */
  readonly parameters: readonly string[];
  /** Whether the last parameter takes all remaining arguments, as in `x.reshape(2, 3)`. */
  readonly takesRest?: boolean | undefined;
  readonly run: (args: Arguments) => GraphValue;
}

/** What an operation is called besides its name in torch. */
export interface OtherNames {
  readonly functions?: readonly string[] | undefined;
  readonly methods?: readonly string[] | undefined;
  readonly takesRest?: boolean | undefined;
}

/** An operation that is `torch.NAME` and `x.NAME()`. */
export function operation(
  name: string,
  parameters: readonly string[],
  run: Operation['run'],
  { functions = [], methods = [], takesRest = false }: OtherNames = {},
): Operation {
  return { functions: [`torch.${name}`, ...functions], methods: [name, ...methods], parameters, takesRest, run };
}

/** A required argument. */
export function required(args: Arguments, name: string): GraphValue {
  const value = args.get(name);
  if (value === undefined) throw new RefusedOperation(`needs the argument '${name}'`);
  return value;
}

/** Element types and places change nothing here: everything is float64. Integer types would round, so they are refused. */
export function ignoreConstant(value: GraphValue | undefined): void {
  if (value === undefined || value === null || typeof value === 'boolean') return;
  if (value instanceof TorchConstant) {
    if (value.kind !== 'dtype' || /^(?:float|double|half|bfloat)/.test(value.text)) return;
    throw new RefusedOperation(`asks for the element type ${value.text}; only floating-point types are supported`);
  }
  throw new RefusedOperation('has an argument that is not an element type, a device or a layout');
}
