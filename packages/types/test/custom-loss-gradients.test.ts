import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CustomLossArgument, CustomLossDefinition } from '../src/custom-loss/custom-loss-graph.js';
import { LossRecorder } from '../src/custom-loss/loss-recorder.js';
import type { LossTensor } from '../src/custom-loss/loss-tensor.js';
import { CUSTOM_LOSS_OPERATIONS, compileCustomLoss } from '../src/custom-loss.js';
import { type Datum, ModelInput, TensorData } from '../src/index.js';

type Kwargs = Readonly<Record<string, CustomLossArgument>>;
type Build = (x: LossTensor, other: LossTensor, call: (...more: readonly (LossTensor | CustomLossArgument)[]) => LossTensor) => LossTensor;

const FLOAT32: CustomLossArgument = { dtype: 'float32' };

const onInput: Build = (x, _, call) => call(x);
const onBoth: Build = (x, other, call) => call(x, other);
/** Constants and facts about shapes: their product with the input has a gradient. */
const asFactor: Build = (x, _, call) => call(x).mul(x);
const choosing: Build = (x, other, call) => call(x, other).where(x.mul(x), other);
const onMasks: Build = (x, other, call) => call(x.gt(0.2), other.lt(1.3)).where(x.mul(x), x);
const onMask: Build = (x, _, call) => call(x.gt(0.2)).where(x.mul(x), x);
const withAxis: Build = (x, _, call) => call(x.at(null).mul(x), -1);

/** How each allowed operation is called, by the last part of its name. */
const CALLS: Readonly<Record<string, Build>> = {
  ...Object.fromEntries(
    [
      'neg',
      'negative',
      '__neg__',
      'abs',
      'exp',
      'expm1',
      'log',
      'log1p',
      'sqrt',
      'square',
      'reciprocal',
      'sigmoid',
      'tanh',
      'relu',
      'sign',
    ].map((name) => [name, onInput]),
  ),
  ...Object.fromEntries(
    ['softplus', 'log_sigmoid', 'logsigmoid', 'clone', 'flatten', 'ravel', 'max', 'min'].map((name) => [name, onInput]),
  ),
  ...Object.fromEntries(
    ['add', 'sub', 'subtract', 'mul', 'multiply', 'div', 'truediv', 'divide', 'true_divide', 'pow', 'minimum', 'maximum', 'type_as'].map(
      (name) => [name, onBoth],
    ),
  ),
  ...Object.fromEntries(['eq', 'ne', 'lt', 'le', 'gt', 'ge'].map((name) => [name, choosing])),
  ...Object.fromEntries(['logical_and', 'logical_or', 'and_', 'or_', 'bitwise_and', 'bitwise_or'].map((name) => [name, onMasks])),
  ...Object.fromEntries(['logical_not', 'invert', 'bitwise_not'].map((name) => [name, onMask])),
  ...Object.fromEntries(['sum', 'mean', 'amax', 'amin'].map((name) => [name, withAxis])),
  ...Object.fromEntries(['zeros_like', 'ones_like', 'numel', 'dim'].map((name) => [name, asFactor])),
  clamp: (x, _, call) => call(x, 0.7, 1.9),
  clip: (x, other, call) => call(x, 0.7, other),
  clamp_min: (x, _, call) => call(x, 0.7),
  clamp_max: (x, _, call) => call(x, 1.9),
  where: (x, other, call) => call(x.gt(1), x.mul(x), other),
  masked_fill: (x, _, call) => call(x, x.gt(1), 0.5),
  float: (x, _, call) => call(x.gt(1)).mul(x),
  double: (x, _, call) => call(x),
  to: (x, _, call) => call(x, FLOAT32),
  bool: (x, other, call) => call(x.sub(x)).where(x, other.mul(x)),
  full_like: (x, _, call) => call(x, 3).mul(x),
  squeeze: (x, _, call) => call(x.at(null), 0),
  unsqueeze: (x, _, call) => call(x, -1).mul(x),
  reshape: (x, _, call) => call(x.at(null).mul(x.at('...', null)), -1),
  view: (x, _, call) => call(x, 1, -1),
  getitem: (x, _, call) => call(x, { slice: [1, null, 2] }),
  getattr: (x, _, call) => call(x, 'ndim').mul(x),
  size: (x, _, call) => call(x, 0).mul(x),
};

/** Of these the gradient is cut on purpose, which finite differences do not show. */
const CUT = new Set(['detach']);

const lastPart = (target: string) => target.slice(target.lastIndexOf('.') + 1);

function lossOf(build: (x: LossTensor, other: LossTensor, recorder: LossRecorder) => LossTensor): CustomLossDefinition {
  const recorder = new LossRecorder();
  const x = recorder.input('logprobs', 1);
  const other = recorder.input('other', 1);
  const result = build(x, other, recorder);
  // Squared, so that the gradient depends on the value.
  recorder.output(result.mul(result).sum(), {});
  const inputs = [{ name: 'logprobs', rank: 1 } as const, { name: 'other', rank: 1 } as const];
  return { name: 'tested', inputs, graph: { format: 1, nodes: recorder.nodes } };
}

function definitionOf(op: 'call_function' | 'call_method', target: string, kwargs: Kwargs = {}): CustomLossDefinition {
  const build = CALLS[lastPart(target)];
  if (build === undefined) throw new Error(`The test does not know how to call ${target}.`);
  // The method has the tensor first.
  const isWhereMethod = op === 'call_method' && target === 'where';
  return lossOf((x, other, recorder) =>
    build(x, other, (...args) => {
      const given = args.map(
        (one) => (typeof one === 'object' && one !== null && 'node' in one ? { ref: one.node } : one) as CustomLossArgument,
      );
      return recorder.call(op, target, isWhereMethod ? [given[1] ?? null, given[0] ?? null, ...given.slice(2)] : given, kwargs);
    }),
  );
}

function run(definition: CustomLossDefinition, x: readonly number[], other: readonly number[]) {
  const datum: Datum = {
    modelInput: ModelInput.fromInts([1]),
    lossFnInputs: { other: TensorData.fromArray(Float32Array.from(other)) },
  };
  const { loss, gradients } = compileCustomLoss(definition).run([datum], [{ data: x, shape: [x.length] }]);
  return { loss, gradient: [...(gradients[0] as Float64Array)] };
}

const STEP = 1e-5;

function expectExactGradient(definition: CustomLossDefinition, x: readonly number[], other: readonly number[]): void {
  const { gradient } = run(definition, x, other);
  x.forEach((value, index) => {
    const at = (moved: number) => run(definition, x.with(index, moved), other).loss;
    const slope = (at(value + STEP) - at(value - STEP)) / (2 * STEP);
    expect(Math.abs((gradient[index] as number) - slope)).toBeLessThanOrEqual(1e-5 * Math.max(1, Math.abs(slope)));
  });
}

/** Positive, so that logarithms exist, in steps of 0.1 off the bounds that are used above, so that no kink is nearer than the step. */
const points = (offset: number) => fc.integer({ min: 1, max: 30 }).map((tenths) => tenths / 10 + offset);
const vectors = fc
  .uniqueArray(points(0.03), { minLength: 2, maxLength: 6 })
  .chain((x) => fc.tuple(fc.constant(x), fc.array(points(0.06), { minLength: x.length, maxLength: x.length })));

describe.each([
  ['call_function', CUSTOM_LOSS_OPERATIONS.functions],
  ['call_method', CUSTOM_LOSS_OPERATIONS.methods],
] as const)('%s', (op, targets) => {
  it.each(targets.filter((target) => !CUT.has(lastPart(target))))('%s has the gradient of finite differences', (target) => {
    const definition = definitionOf(op, target);
    fc.assert(
      fc.property(vectors, ([x, other]) => expectExactGradient(definition, x, other)),
      { numRuns: 25 },
    );
  });
});

it.each<[string, 'call_function' | 'call_method', string, Kwargs]>([
  ['softplus with beta and threshold', 'call_function', 'torch._C._nn.softplus', { beta: 2, threshold: 1.51 }],
  ['softplus without a threshold', 'call_function', 'torch._C._nn.softplus', { beta: 1, threshold: { float: 'inf' } }],
  ['sum that keeps its axis', 'call_method', 'sum', { keepdim: true }],
  ['amax that keeps its axis', 'call_method', 'amax', { keepdim: true }],
])('%s has the gradient of finite differences', (_, op, target, kwargs) => {
  fc.assert(
    fc.property(vectors, ([x, other]) => expectExactGradient(definitionOf(op, target, kwargs), x, other)),
    { numRuns: 25 },
  );
});

it('detach keeps the value and cuts the gradient', () => {
  for (const op of ['call_function', 'call_method'] as const) {
    const target = op === 'call_function' ? 'torch.detach' : 'detach';
    const definition = lossOf((x, _, recorder) => recorder.call(op, target, [{ ref: x.node }]).mul(x));
    // (c x)² has the derivative 2 c² x, with c = x held fixed.
    expect(run(definition, [2, 3], [0, 0])).toEqual({ loss: 16 + 81, gradient: [16, 54] });
  }
});

it('shares the gradient between equal elements, as torch does', () => {
  const largest = lossOf((x, _, recorder) => recorder.call('call_method', 'max', [{ ref: x.node }]));
  expect(run(largest, [3, 1, 3], [0, 0, 0])).toEqual({ loss: 9, gradient: [3, 0, 3] });
  const smaller = lossOf((x, other) => x.minimum(other));
  expect(run(smaller, [2, 1], [2, 5])).toEqual({ loss: 5, gradient: [2, 2] });
  const bounded = lossOf((x) => x.clamp({ min: 2, max: 3 }));
  expect(run(bounded, [2, 3, 4], [0, 0, 0])).toEqual({ loss: 4 + 9 + 9, gradient: [4, 6, 0] });
});

it('adds gradients up where a tensor is used more than once, however deep the graph', () => {
  const deep = lossOf((x) => {
    let sum = x;
    for (let step = 0; step < 2_000; step += 1) sum = sum.add(x);
    return sum;
  });
  expect(run(deep, [1], [0])).toEqual({ loss: 2001 ** 2, gradient: [2 * 2001 ** 2] });
});
