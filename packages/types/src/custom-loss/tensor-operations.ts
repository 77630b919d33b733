import { compareElements } from './elementwise.js';
import { GraphTensor, RefusedOperation } from './graph-tensor.js';
import { type GraphValue, tensor, wholeNumber } from './graph-values.js';
import { type Arguments, ignoreConstant, type Operation, operation, required } from './operation.js';
import { averageElements, axisOf, largestElements, type ReductionOptions, smallestElements, sumElements } from './reductions.js';
import { indexElements, reshape, squeeze, unsqueeze } from './views.js';

const input = (args: Arguments): GraphTensor => tensor(required(args, 'input'), 'input');

function axes(value: GraphValue | undefined, { shape }: GraphTensor): readonly number[] | undefined {
  if (value === undefined || value === null) return undefined;
  const given: readonly GraphValue[] = Array.isArray(value) ? value : [value as GraphValue];
  return given.length === 0 ? undefined : given.map((one) => axisOf(wholeNumber(one, 'dim'), shape.length));
}

/** The axes to reduce. A tensor without axes has none to name but 0 and -1, which mean all of it. */
function reduction(args: Arguments): ReductionOptions {
  ignoreConstant(args.get('dtype'));
  const x = input(args);
  const found = axes(args.get('dim'), x);
  return { axes: x.shape.length === 0 ? undefined : found, keepsAxes: args.get('keepdim') === true };
}

function reduce(name: string, run: (x: GraphTensor, options: ReductionOptions) => GraphTensor): Operation {
  return operation(name, ['input', 'dim', 'keepdim', 'dtype'], (args) => run(input(args), reduction(args)));
}

/** `max` of everything. The forms with an axis or another tensor give something else in torch. */
function extreme(name: string, run: (x: GraphTensor, options: ReductionOptions) => GraphTensor): Operation {
  return operation(name, ['input', 'dim'], (args) => {
    if (args.has('dim'))
      throw new RefusedOperation(`is supported without further arguments; use a${name} for one axis and ${name}imum for two tensors`);
    return run(input(args), { axes: undefined, keepsAxes: false });
  });
}

const reductions: readonly Operation[] = [
  reduce('sum', (x, options) => sumElements(x, options)),
  reduce('mean', averageElements),
  reduce('amax', largestElements),
  reduce('amin', smallestElements),
  extreme('max', largestElements),
  extreme('min', smallestElements),
];

function filled(name: string, value: number | undefined): Operation {
  const parameters = value === undefined ? ['input', 'fill_value'] : ['input'];
  return operation(name, [...parameters, 'dtype', 'layout', 'device', 'requires_grad', 'memory_format'], (args) => {
    for (const constant of ['dtype', 'layout', 'device', 'requires_grad', 'memory_format']) ignoreConstant(args.get(constant));
    const fill = value ?? required(args, 'fill_value');
    if (typeof fill !== 'number') throw new RefusedOperation("needs a number as 'fill_value'");
    const { shape, data } = input(args);
    return GraphTensor.constant(shape, new Float64Array(data.length).fill(fill));
  });
}

/** Everything is float64, so conversions to floating-point types change only masks, which become numbers. */
function convert(name: string): Operation {
  return operation(name, ['input', 'dtype', 'copy'], (args) => {
    ignoreConstant(args.get('dtype'));
    return asNumbers(input(args));
  });
}

function asNumbers(x: GraphTensor): GraphTensor {
  return x.isMask ? GraphTensor.constant(x.shape, x.data) : x;
}

const copies: readonly Operation[] = [
  operation('detach', ['input'], (args) => GraphTensor.constant(input(args).shape, input(args).data)),
  operation('clone', ['input'], input),
  operation('type_as', ['input', 'other'], (args) => asNumbers(input(args))),
  operation('bool', ['input'], (args) => compareElements((a, b) => a !== b, input(args), 0)),
  ...['float', 'double', 'to'].map(convert),
  filled('zeros_like', 0),
  filled('ones_like', 1),
  filled('full_like', undefined),
];

const views: readonly Operation[] = [
  operation('squeeze', ['input', 'dim'], (args) => squeeze(input(args), axes(args.get('dim'), input(args)))),
  operation('unsqueeze', ['input', 'dim'], (args) => unsqueeze(input(args), wholeNumber(required(args, 'dim'), 'dim'))),
  operation('reshape', ['input', 'shape'], (args) => reshape(input(args), wantedShape(args)), { methods: ['view'], takesRest: true }),
  operation('flatten', ['input'], (args) => reshape(input(args), [input(args).data.length]), {
    methods: ['ravel'],
    functions: ['torch.ravel'],
  }),
  {
    functions: ['operator.getitem'],
    methods: [],
    parameters: ['input', 'index'],
    run: (args) => {
      const [from, index] = [required(args, 'input'), required(args, 'index')];
      if (!Array.isArray(from)) return indexElements(tensor(from, 'input'), index);
      const item: GraphValue | undefined = from.at(wholeNumber(index, 'an index'));
      if (item === undefined) throw new RefusedOperation(`uses an index outside of ${from.length} values`);
      return item;
    },
  },
];

/** One size may be -1: it follows from the others. */
function wantedShape(args: Arguments): number[] {
  const given = required(args, 'shape');
  const sizes = (Array.isArray(given) ? given : [given as GraphValue]).flat().map((one) => wholeNumber(one as GraphValue, 'a size'));
  const known = sizes.reduce((product, size) => (size === -1 ? product : product * size), 1);
  return sizes.map((size) => (size === -1 ? input(args).data.length / known : size));
}

const facts: readonly Operation[] = [
  {
    functions: ['getattr'],
    methods: [],
    parameters: ['input', 'name'],
    run: (args) => {
      const name = required(args, 'name');
      if (name === 'shape') return input(args).shape;
      if (name === 'ndim') return input(args).shape.length;
      throw new RefusedOperation(`reads the attribute ${String(name)}; only shape and ndim are supported`);
    },
  },
  operation('numel', ['input'], (args) => input(args).data.length),
  {
    functions: [],
    methods: ['size'],
    parameters: ['input', 'dim'],
    run: (args) => {
      const { shape } = input(args);
      const dim = args.get('dim');
      return dim === undefined ? shape : (shape[axisOf(wholeNumber(dim, 'dim'), shape.length)] as number);
    },
  },
  { functions: [], methods: ['dim'], parameters: ['input'], run: (args) => input(args).shape.length },
];

/** Operations on whole tensors: reductions, copies, shapes, indexing. */
export const TENSOR_OPERATIONS: readonly Operation[] = [...reductions, ...copies, ...views, ...facts];
