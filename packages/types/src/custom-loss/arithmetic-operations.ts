import { chooseElements, combineElements, compareElements, mapElements, type Numeric } from './elementwise.js';
import { GraphTensor, RefusedOperation } from './graph-tensor.js';
import { numeric, tensor } from './graph-values.js';
import { type Arguments, type Operation, type OtherNames, operation, required } from './operation.js';
import { BINARY_RULES, COMPARISONS, LOG_SIGMOID_RULE, softplusRule, UNARY_RULES } from './scalar-rules.js';

const input = (args: Arguments): Numeric => numeric(required(args, 'input'), 'input');
const other = (args: Arguments): Numeric => numeric(required(args, 'other'), 'other');

const unary: readonly Operation[] = Object.entries(UNARY_RULES).map(([name, rule]) =>
  operation(name, ['input'], (args) => mapElements(rule, input(args)), {
    functions: name === 'neg' || name === 'abs' ? [`operator.${name}`] : name === 'relu' ? ['torch.nn.functional.relu'] : [],
    methods: name === 'neg' ? ['negative', '__neg__'] : [],
  }),
);

const arithmetic: readonly Operation[] = [
  binary('add', { functions: ['operator.add'] }),
  binary('sub', { functions: ['operator.sub', 'torch.subtract'], methods: ['subtract'] }),
  binary('mul', { functions: ['operator.mul', 'torch.multiply'], methods: ['multiply'] }),
  binary('div', { functions: ['operator.truediv', 'torch.divide', 'torch.true_divide'], methods: ['divide', 'true_divide'] }),
  binary('minimum'),
  binary('maximum'),
  operation(
    'pow',
    ['input', 'exponent'],
    (args) => combineElements(BINARY_RULES.pow, input(args), numeric(required(args, 'exponent'), 'exponent')),
    { functions: ['operator.pow'] },
  ),
];

function binary(name: 'add' | 'sub' | 'mul' | 'div' | 'minimum' | 'maximum', others: OtherNames = {}): Operation {
  return operation(name, ['input', 'other'], (args) => combineElements(BINARY_RULES[name], input(args), other(args)), others);
}

const comparisons: readonly Operation[] = Object.entries(COMPARISONS).map(([name, holds]) =>
  operation(name, ['input', 'other'], (args) => compareElements(holds, input(args), other(args)), { functions: [`operator.${name}`] }),
);

/** Logic on masks. Bitwise logic on numbers is refused. */
const logic: readonly Operation[] = [
  operation(
    'logical_and',
    ['input', 'other'],
    (args) => compareElements((a, b) => a !== 0 && b !== 0, mask(input(args)), mask(other(args))),
    {
      functions: ['operator.and_', 'torch.bitwise_and'],
    },
  ),
  operation(
    'logical_or',
    ['input', 'other'],
    (args) => compareElements((a, b) => a !== 0 || b !== 0, mask(input(args)), mask(other(args))),
    {
      functions: ['operator.or_', 'torch.bitwise_or'],
    },
  ),
  operation('logical_not', ['input'], (args) => compareElements((a, b) => a === b, mask(input(args)), 0), {
    functions: ['operator.invert', 'torch.bitwise_not'],
  }),
];

function mask(value: Numeric): Numeric {
  if (typeof value === 'boolean' || (value instanceof GraphTensor && value.isMask)) return value;
  throw new RefusedOperation('needs masks; compare numbers first, as in x > 0');
}

function choose(args: Arguments): GraphTensor {
  return chooseElements(tensor(required(args, 'condition'), 'condition'), input(args), other(args));
}

function clamp(args: Arguments): Numeric {
  const [low, high] = [args.get('min') ?? null, args.get('max') ?? null];
  if (low === null && high === null) throw new RefusedOperation("needs 'min' or 'max'");
  const raised = low === null ? input(args) : combineElements(BINARY_RULES.clampMin, input(args), numeric(low, 'min'));
  return high === null ? raised : combineElements(BINARY_RULES.clampMax, raised, numeric(high, 'max'));
}

function plainNumber(args: Arguments, name: string, fallback: number): number {
  const value = args.get(name) ?? fallback;
  if (typeof value === 'number') return value;
  throw new RefusedOperation(`needs a number as '${name}'`);
}

const choices: readonly Operation[] = [
  operation('clamp', ['input', 'min', 'max'], clamp, { functions: ['torch.clip'], methods: ['clip'] }),
  operation('clamp_min', ['input', 'min'], clamp),
  operation('clamp_max', ['input', 'max'], clamp),
  { functions: ['torch.where'], methods: [], parameters: ['condition', 'input', 'other'], run: choose },
  // The method has the tensor in another place: x.where(condition, other).
  { functions: [], methods: ['where'], parameters: ['input', 'condition', 'other'], run: choose },
  operation('masked_fill', ['input', 'mask', 'value'], (args) =>
    chooseElements(tensor(required(args, 'mask'), 'mask'), numeric(required(args, 'value'), 'value'), input(args)),
  ),
];

const smooth: readonly Operation[] = [
  {
    functions: ['torch._C._nn.softplus', 'torch.nn.functional.softplus'],
    methods: [],
    parameters: ['input', 'beta', 'threshold'],
    run: (args) => mapElements(softplusRule(plainNumber(args, 'beta', 1), plainNumber(args, 'threshold', 20)), input(args)),
  },
  {
    functions: ['torch._C._nn.log_sigmoid', 'torch.nn.functional.logsigmoid'],
    methods: [],
    parameters: ['input'],
    run: (args) => mapElements(LOG_SIGMOID_RULE, input(args)),
  },
];

/** Operations element by element: arithmetic, comparisons, choices, and smooth functions. */
export const ARITHMETIC_OPERATIONS: readonly Operation[] = [...unary, ...arithmetic, ...comparisons, ...logic, ...choices, ...smooth];
