import type { Jaxpr } from '@jax-js/jax';
import { ValidationError } from '@tinkex/types';

/** A value of a traced function: an input, the result of an earlier step, or a number. */
export type JaxValue = { readonly input: number } | { readonly step: number } | number;

/** One step of a traced function. */
export interface JaxStep {
  /** The primitive, with its variant: `add`, `compare:less`, `reduce:Add`. */
  readonly operation: string;
  readonly values: readonly JaxValue[];
  /** Of a reduction; undefined for all axes. */
  readonly axis?: number | undefined;
}

/** A traced function without the sizes it was traced with. */
export interface JaxProgram {
  readonly steps: readonly JaxStep[];
  readonly outputs: readonly JaxValue[];
}

type Equation = Jaxpr['eqns'][number];
type Atom = Equation['inputs'][number];
type Variable = Equation['outBinders'][number];

/** Primitives that mean the same for tensors of any size. */
const PLAIN: ReadonlySet<string> = new Set([
  'add',
  'mul',
  'min',
  'max',
  'neg',
  'reciprocal',
  'stop_gradient',
  'exp',
  'log',
  'sqrt',
  'where',
]);
const REDUCTIONS: ReadonlySet<string> = new Set(['Add', 'Max', 'Min']);

/** Reads a traced function. @throws `ValidationError` for a primitive that depends on sizes or that a custom loss does not have. */
export function readJaxpr({ inBinders, eqns, outs }: Jaxpr): JaxProgram {
  const known = new Map<Variable, JaxValue>(inBinders.map((variable, input) => [variable, { input }]));
  const steps: JaxStep[] = [];
  const sums = new Map<Variable, { readonly step: JaxStep; readonly count: number }>();
  const toValue = (atom: Atom): JaxValue => ('value' in atom ? atom.value : (known.get(atom) as JaxValue));
  const keep = (equation: Equation, step: JaxStep): void => {
    known.set(equation.outBinders[0] as Variable, { step: steps.push(step) - 1 });
  };
  for (const equation of eqns) {
    const [first, second] = equation.inputs as [Atom, Atom | undefined];
    const sum = 'value' in first ? undefined : sums.get(first);
    // The mean is a sum times one over the count, which is a number by now.
    if (
      equation.primitive === 'mul' &&
      sum !== undefined &&
      second !== undefined &&
      'value' in second &&
      isInverse(second.value, sum.count)
    ) {
      keep(equation, { ...sum.step, operation: 'mean' });
      continue;
    }
    const step = { operation: operationOf(equation), values: equation.inputs.map(toValue), axis: axisOf(equation) };
    keep(equation, step);
    if (step.operation === 'reduce:Add') sums.set(equation.outBinders[0] as Variable, { step, count: reducedCount(equation) });
  }
  return { steps, outputs: outs.map(toValue) };
}

function operationOf({ primitive, params, inputs }: Equation): string {
  if (primitive === 'mul' && inputs.every((atom) => atom.aval.dtype === 'bool')) return 'and';
  if (PLAIN.has(primitive)) return primitive;
  if (primitive === 'compare') return `compare:${String(params['op'])}`;
  if (primitive === 'cast' && inputs[0]?.aval.dtype === 'bool') return 'float';
  if (primitive === 'reduce' && REDUCTIONS.has(String(params['op']))) return `reduce:${String(params['op'])}`;
  throw notTraceable(`it uses the jax-js primitive '${primitive}', which custom losses do not have`);
}

function axisOf({ primitive, params, inputs }: Equation): number | undefined {
  if (primitive !== 'reduce') return undefined;
  const axes = params['axis'] as readonly number[];
  if (axes.length === inputs[0]?.aval.shape.length) return undefined;
  if (axes.length === 1) return axes[0];
  throw notTraceable('it reduces several axes, but not all, in one step');
}

function reducedCount({ params, inputs }: Equation): number {
  const shape = inputs[0]?.aval.shape ?? [];
  return (params['axis'] as readonly number[]).reduce((count, axis) => count * (shape[axis] ?? 1), 1);
}

function isInverse(value: number, count: number): boolean {
  return Math.fround(value) === Math.fround(1 / count);
}

/** A `ValidationError` about a jax-js function that has no graph. */
export function notTraceable(reason: string): ValidationError {
  const message = `cannot run on the server: ${reason}. Write it with the tensors of createCustomLoss, or use autodiff() to run it here`;
  return new ValidationError({ direction: 'request', subject: 'jax-js loss', issues: [{ path: '', message }] });
}
