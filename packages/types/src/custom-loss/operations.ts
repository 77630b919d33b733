import { ARITHMETIC_OPERATIONS } from './arithmetic-operations.js';
import type { CustomLossNode } from './custom-loss-graph.js';
import { RefusedOperation } from './graph-tensor.js';
import type { GraphValue } from './graph-values.js';
import type { Arguments, Operation } from './operation.js';
import { TENSOR_OPERATIONS } from './tensor-operations.js';

const FUNCTIONS = new Map<string, Operation>();
const METHODS = new Map<string, Operation>();
for (const operation of [...ARITHMETIC_OPERATIONS, ...TENSOR_OPERATIONS]) {
  for (const target of operation.functions) FUNCTIONS.set(target, operation);
  for (const target of operation.methods) METHODS.set(target, operation);
}

/** The functions and methods that a graph may call. Everything else is refused. */
export const CUSTOM_LOSS_OPERATIONS: { readonly functions: readonly string[]; readonly methods: readonly string[] } = {
  functions: [...FUNCTIONS.keys()].sort(),
  methods: [...METHODS.keys()].sort(),
};

/** The operation that a node calls, or undefined when it is not allowed. */
export function operationOf({ op, target }: CustomLossNode): Operation | undefined {
  return (op === 'call_method' ? METHODS : FUNCTIONS).get(target);
}

/** Runs an operation with the arguments of a node. */
export function runOperation(operation: Operation, args: readonly GraphValue[], kwargs: ReadonlyMap<string, GraphValue>): GraphValue {
  return operation.run(bindArguments(operation, args, kwargs));
}

/** Arguments by the name of their parameter, as Python binds them. */
function bindArguments(
  { parameters, takesRest }: Operation,
  args: readonly GraphValue[],
  kwargs: ReadonlyMap<string, GraphValue>,
): Arguments {
  const bound = new Map<string, GraphValue>();
  const positional =
    takesRest && args.length > parameters.length ? [...args.slice(0, parameters.length - 1), args.slice(parameters.length - 1)] : args;
  if (positional.length > parameters.length)
    throw new RefusedOperation(`has ${args.length} arguments; at most ${parameters.length} are supported`);
  for (const [index, value] of positional.entries()) bound.set(parameters[index] as string, value);
  for (const [name, value] of kwargs) {
    if (!parameters.includes(name)) throw new RefusedOperation(`has an argument '${name}', which is not supported`);
    if (bound.has(name)) throw new RefusedOperation(`has two values for '${name}'`);
    bound.set(name, value);
  }
  return bound;
}
