import { describe, expect, it } from 'vitest';
import { checkCustomLossData, compileCustomLoss, isCustomLossInputName, isCustomLossMetricName, traceLoss } from '../src/custom-loss.js';
import {
  type CustomLossArgument,
  type CustomLossDefinition,
  type CustomLossNode,
  datum,
  type JsonObject,
  type LossFnInputsLike,
  type LossFunction,
  ModelInput,
  TensorData,
  ValidationError,
} from '../src/index.js';
import { createCustomLossRequest, createCustomLossResponse } from '../src/wire.js';
import { vectorCases } from './vectors.js';

const bodies = vectorCases<{ input_ranks: Record<string, 0 | 1 | 2> }, JsonObject>('create-custom-loss', 4);

/** What the four traced functions of the vectors compute, on these numbers. */
const LOGPROBS = [-0.5, -2, -1, -0.1];
const OTHERS = [1, 0.5, -1, 2];
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const clamp = (value: number) => Math.min(Math.max(value, 0.8), 1.2);
const EXPECTED: Readonly<Record<string, { loss: number; gradient: number[]; metrics: Record<string, number> }>> = {
  'negative-weighted-sum': { loss: -(-0.5 - 1 + 1 - 0.2), gradient: OTHERS.map((one) => -one), metrics: {} },
  'where-ellipsis-dtype': {
    loss: (-0.5 + 1 - 0.2) / 4,
    gradient: [0.25, 0, -0.25, 0.5],
    metrics: { 'custom/a:mean': (-0.5 + 1 - 0.2) / 4 },
  },
  'functional-with-keywords-and-infinity': {
    loss: sum(LOGPROBS.map((x) => Math.log1p(Math.exp(x)))),
    gradient: LOGPROBS.map((x) => 1 / (1 + Math.exp(-x))),
    metrics: {},
  },
  'clamp-and-getattr': {
    loss: (sum(LOGPROBS.map((x) => clamp(Math.exp(x)))) * 3) / 2,
    gradient: [0, 0, 0, Math.exp(-0.1) * 1.5],
    metrics: { 'custom/x:sum': sum(LOGPROBS.map((x) => clamp(Math.exp(x)))), 'custom/y:mean': 16 },
  },
};

function dataFor({ inputs }: CustomLossDefinition) {
  const given = inputs
    .slice(1)
    .map(({ name, rank }) => [
      name,
      rank === 0 ? TensorData.fromArray(Float32Array.of(3), 'float32', []) : TensorData.fromArray(Float32Array.from(OTHERS)),
    ]);
  return datum({ modelInput: ModelInput.fromInts([1]), lossFnInputs: Object.fromEntries(given) as Record<string, TensorData> });
}

describe('create-custom-loss.json', () => {
  it.each(bodies)('$name: the body is read and written as it is', ({ expected }) => {
    expect(createCustomLossRequest.encode(createCustomLossRequest.decode(expected))).toEqual(expected);
  });

  it.each(bodies)('$name: the graph of the Python SDK runs', ({ name, expected }) => {
    const definition = createCustomLossRequest.decode(expected);
    const shape = definition.inputs[0]?.rank === 2 ? [2, 2] : [4];
    const { loss, gradients, metrics } = compileCustomLoss(definition).run([dataFor(definition)], [{ data: LOGPROBS, shape }]);
    const wanted = EXPECTED[name];
    expect(loss).toBeCloseTo(wanted?.loss as number, 12);
    for (const [index, slope] of gradients[0]?.entries() ?? []) expect(slope).toBeCloseTo(wanted?.gradient[index] as number, 12);
    expect(Object.keys(metrics)).toEqual(Object.keys(wanted?.metrics ?? {}));
    for (const [metric, value] of Object.entries(wanted?.metrics ?? {})) expect(metrics[metric]).toBeCloseTo(value, 12);
  });

  /** The same losses in the words of our API. What it does not have (dtypes, sizes) is written differently and computes the same. */
  const ours: Readonly<Record<string, LossFunction<Record<string, 1>>>> = {
    'negative-weighted-sum': (logprobs, { advantages }) => ({
      loss: logprobs
        .mul(advantages as never)
        .sum()
        .neg(),
    }),
  };

  it.each(bodies.filter(({ name }) => name in ours))('$name: our tracer gives the same body', ({ name, input, expected }) => {
    const definition = traceLoss(ours[name] as LossFunction, { name: 'f', inputs: input.input_ranks });
    expect(createCustomLossRequest.encode({ sessionId: 'sess-1', customLossSeqId: 0, ...definition })).toEqual(expected);
  });
});

describe('custom-loss-names.json', () => {
  it.each(vectorCases<{ metric?: string; input_name?: string }, boolean>('custom-loss-names', 19))('$name', ({ input, expected }) => {
    const isAllowed = input.metric === undefined ? isCustomLossInputName(input.input_name ?? '') : isCustomLossMetricName(input.metric);
    expect(isAllowed).toBe(expected);
  });
});

it('the answer names the loss', () => {
  expect(createCustomLossResponse.decode({ loss_id: 'l', type: 'create_custom_loss' })).toEqual({ lossId: 'l' });
  expect(() => createCustomLossResponse.decode({ type: 'create_custom_loss' })).toThrow(ValidationError);
});

describe('tracing', () => {
  it('names nodes like torch.fx, keeps constants, and renames documented inputs', () => {
    const { inputs, graph, name } = traceLoss(
      function clipped(logprobs, { clipLowThreshold }) {
        const ratio = logprobs.exp().clamp({ max: 2 });
        return { loss: ratio.sum().add(ratio.sum()).add(clipLowThreshold.mul(Infinity)), metrics: { 'custom/top:mean': ratio.max() } };
      },
      { inputs: { logprobs: 2, clipLowThreshold: 0 } },
    );
    expect(name).toBe('clipped');
    expect(inputs).toEqual([
      { name: 'logprobs', rank: 2 },
      { name: 'clip_low_threshold', rank: 0 },
    ]);
    expect(graph.nodes.map((node) => [node.name, node.target])).toEqual([
      ['logprobs', 'logprobs'],
      ['clip_low_threshold', 'clip_low_threshold'],
      ['exp', 'torch.exp'],
      ['clamp', 'torch.clamp'],
      ['sum_1', 'sum'],
      ['sum_2', 'sum'],
      ['add', 'operator.add'],
      ['mul', 'operator.mul'],
      ['add_1', 'operator.add'],
      ['amax', 'amax'],
      ['output', 'output'],
    ]);
    expect(graph.nodes[3]?.kwargs).toEqual({ max: 2 });
    expect(graph.nodes[7]?.args).toEqual([{ ref: 'clip_low_threshold' }, { float: 'inf' }]);
  });

  it('gives a node another name when an input has it already', () => {
    const { graph } = traceLoss((logprobs, { exp }) => ({ loss: logprobs.exp().mul(exp).sum() }), { inputs: { exp: 1 } });
    expect(new Set(graph.nodes.map(({ name }) => name)).size).toBe(graph.nodes.length);
  });

  it('indexes like torch', () => {
    const definition = traceLoss(
      (logprobs) => ({ loss: logprobs.at({ start: 1 }, -1).sum().add(logprobs.at(0).at('...', null).sum().mul(10)) }),
      { inputs: { logprobs: 2 } },
    );
    const { loss, gradients } = compileCustomLoss(definition).run([dataFor(definition)], [{ data: [1, 2, 3, 4, 5, 6], shape: [3, 2] }]);
    expect(loss).toBe(4 + 6 + 10 * 3);
    expect([...(gradients[0] as Float64Array)]).toEqual([10, 10, 0, 1, 0, 1]);
  });

  const stranger = (() => {
    let kept: unknown;
    traceLoss((logprobs) => {
      kept = logprobs;
      return { loss: logprobs.sum() };
    });
    return kept;
  })();

  it.each<[string, LossFunction, object, string]>([
    [
      'a value that is used as a number',
      (logprobs) => ({ loss: logprobs.mul(Number(logprobs) || 1) }),
      {},
      'has no value while the loss is traced',
    ],
    ['a tensor of another loss', (logprobs) => ({ loss: logprobs.add(stranger as never).sum() }), {}, 'tensor of another custom loss'],
    ['an operand that is not a number', (logprobs) => ({ loss: logprobs.add('1' as never) }), {}, 'uses a string as an operand'],
    ['clamp without bounds', (logprobs) => ({ loss: logprobs.clamp({}).sum() }), {}, 'give at least one'],
    ['a number as the loss', () => ({ loss: 1 as never }), {}, 'a tensor as its loss'],
    ['nothing', () => undefined as never, {}, 'must return { loss, metrics? }'],
    ['a promise', (async () => undefined) as never, {}, 'must not be async'],
    ['a failure', () => (undefined as never as LossFunction)(null as never, {}), {}, 'Wrap a jax-js function with jaxLoss'],
    [
      'a metric of another name',
      (logprobs) => ({ loss: logprobs.sum(), metrics: { mine: logprobs.sum() } }),
      {},
      "the metric 'mine', which must be named custom/NAME:sum",
    ],
    [
      'a metric that is a number',
      (logprobs) => ({ loss: logprobs.sum(), metrics: { 'custom/a:sum': 1 as never } }),
      {},
      'must be a tensor',
    ],
    ['logprobs of rank 0', (logprobs) => ({ loss: logprobs }), { logprobs: 0 }, 'give logprobs the rank 0'],
    ['a rank that does not exist', (logprobs) => ({ loss: logprobs.sum() }), { weights: 3 }, "give 'weights' the rank 3"],
    ['an input name in capitals', (logprobs) => ({ loss: logprobs.sum() }), { Mask: 1 }, "must not include 'Mask'"],
    [
      'too many inputs',
      (logprobs) => ({ loss: logprobs.sum() }),
      Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`i${n}`, 1])),
      'at most 16',
    ],
    [
      'two names for one input',
      (logprobs) => ({ loss: logprobs.sum() }),
      { clipLowThreshold: 1, clip_low_threshold: 1 },
      "include 'clip_low_threshold' twice",
    ],
    ['no function', 'loss' as never, {}, 'must be a function'],
  ])('refuses %s', (_, fn, inputs, message) => {
    const trace = () => traceLoss(fn, { inputs: inputs as never });
    expect(trace).toThrow(ValidationError);
    expect(trace).toThrow(message);
  });
});

const PLACEHOLDER: CustomLossNode = { op: 'placeholder', name: 'logprobs', target: 'logprobs', args: [], kwargs: {} };
const call = (target: string, args: readonly CustomLossArgument[], more: Partial<CustomLossNode> = {}): CustomLossNode => ({
  op: 'call_function',
  name: 'step',
  target,
  args,
  kwargs: {},
  ...more,
});
const output = (loss: string, metrics: Readonly<Record<string, CustomLossArgument>> = {}): CustomLossNode => ({
  op: 'output',
  name: 'output',
  target: 'output',
  args: [{ tuple: [{ ref: loss }, { dict: metrics }] }],
  kwargs: {},
});
const lossOf = (...nodes: readonly CustomLossNode[]): CustomLossDefinition => ({
  name: 'mine',
  inputs: [{ name: 'logprobs', rank: 1 }],
  graph: { format: 1, nodes },
});

describe('a graph', () => {
  const X = { ref: 'logprobs' };
  it.each<[string, CustomLossDefinition, string]>([
    [
      'a function that is not allowed',
      lossOf(PLACEHOLDER, call('torch.linalg.inv', [X]), output('step')),
      "node 'step' (torch.linalg.inv) is not an allowed operation",
    ],
    [
      'a method that is not allowed',
      lossOf(PLACEHOLDER, call('item', [X], { op: 'call_method' }), output('step')),
      "node 'step' (item) is not an allowed operation",
    ],
    ['a name of Object.prototype', lossOf(PLACEHOLDER, call('constructor', [X]), output('step')), 'is not an allowed operation'],
    ['a captured tensor', lossOf(PLACEHOLDER, call('table', [], { op: 'get_attr' }), output('step')), 'reads a captured tensor'],
    ['a module', lossOf(PLACEHOLDER, call('net', [X], { op: 'call_module' }), output('step')), 'calls a module'],
    ['a later node', lossOf(PLACEHOLDER, call('torch.exp', [{ ref: 'later' }]), output('step')), "refers to 'later'"],
    [
      'the same name twice',
      lossOf(PLACEHOLDER, call('torch.exp', [X]), call('torch.exp', [X]), output('step')),
      'has the name of an earlier node',
    ],
    ['another input', lossOf({ ...PLACEHOLDER, target: 'weights' }, output('logprobs')), 'must be the next of the declared inputs'],
    ['no placeholder', lossOf(output('logprobs')), "refers to 'logprobs'"],
    ['no output', lossOf(PLACEHOLDER), 'must end with an output node'],
    ['a node after the output', lossOf(PLACEHOLDER, output('logprobs'), call('torch.exp', [X])), 'is not the last node'],
    [
      'an output without metrics',
      lossOf(PLACEHOLDER, { ...output('logprobs'), args: [X] }),
      'must return the loss and a dictionary of metrics',
    ],
    ['a metric that is a constant', lossOf(PLACEHOLDER, output('logprobs', { 'custom/a:sum': 1 })), 'which is not a computed value'],
  ])('with %s is refused when it is compiled', (_, definition, message) => {
    expect(() => compileCustomLoss(definition)).toThrow(ValidationError);
    expect(() => compileCustomLoss(definition)).toThrow(message);
  });

  it.each<[string, CustomLossDefinition, string]>([
    [
      'shapes that do not fit',
      lossOf(
        PLACEHOLDER,
        call('operator.getitem', [X, { slice: [0, 2, null] }]),
        call('operator.add', [X, { ref: 'step' }], { name: 'sum' }),
        output('sum'),
      ),
      "node 'sum' (operator.add) combines shapes that do not fit: [3] and [2] (datum 0)",
    ],
    ['a loss that is not a single number', lossOf(PLACEHOLDER, output('logprobs')), "node 'logprobs' is a tensor of shape [3]"],
    [
      'an unknown keyword',
      lossOf(PLACEHOLDER, call('torch.exp', [X], { kwargs: { out: X } }), output('step')),
      "has an argument 'out', which is not supported",
    ],
    [
      'two values for one argument',
      lossOf(PLACEHOLDER, call('torch.exp', [X], { kwargs: { input: X } }), output('step')),
      "has two values for 'input'",
    ],
    ['a missing argument', lossOf(PLACEHOLDER, call('operator.add', [X]), output('step')), "needs the argument 'other'"],
    ['an index outside', lossOf(PLACEHOLDER, call('operator.getitem', [X, 3]), output('step')), 'uses the index 3 on an axis of size 3'],
    [
      'an axis that does not exist',
      lossOf(PLACEHOLDER, call('sum', [X, 1], { op: 'call_method' }), output('step')),
      'names the axis 1 of a tensor with 1 axes',
    ],
    [
      'an integer type',
      lossOf(PLACEHOLDER, call('to', [X, { dtype: 'int64' }], { op: 'call_method' }), output('step')),
      'only floating-point types',
    ],
    ['logic on numbers', lossOf(PLACEHOLDER, call('operator.invert', [X]), output('step')), 'needs masks'],
    ['max with an axis', lossOf(PLACEHOLDER, call('max', [X, 0], { op: 'call_method' }), output('step')), 'use amax for one axis'],
    [
      'a metric that is not a single number',
      lossOf(PLACEHOLDER, call('sum', [X], { op: 'call_method' }), output('step', { 'custom/a:sum': { ref: 'logprobs' } })),
      "gives a metric 'custom/a:sum' that is not a single number",
    ],
  ])('with %s is refused when it runs', (_, definition, message) => {
    const run = () => compileCustomLoss(definition).run([dataFor(definition)], [{ data: [1, 2, 3], shape: [3] }]);
    expect(run).toThrow(ValidationError);
    expect(run).toThrow(message);
  });

  it.each<[string, CustomLossArgument]>([
    ['two keys', { ref: 'a', tuple: [] } as never],
    ['an unknown key', { tensor: [1] } as never],
    ['a wrong float', { float: '1' } as never],
    ['a short slice', { slice: [1, 2] } as never],
    ['something below', [{ tuple: [{ dict: { a: { ref: 1 } } }] }] as never],
  ])('with an argument of %s is not a request', (_, argument) => {
    const definition = lossOf(PLACEHOLDER, call('torch.exp', [argument]), output('step'));
    expect(() => createCustomLossRequest.encode({ sessionId: 's', customLossSeqId: 0, ...definition })).toThrow('graph.nodes[1].args[0]');
  });

  it('does not fill the memory with an outer product', () => {
    const nodes = [
      PLACEHOLDER,
      call('operator.getitem', [X, { tuple: [{ ellipsis: true }, null] }]),
      call('operator.mul', [X, { ref: 'step' }], { name: 'outer' }),
      output('outer'),
    ];
    const program = compileCustomLoss(lossOf(...nodes));
    expect(() => program.run([dataFor(lossOf())], [{ data: new Float64Array(5000), shape: [5000] }])).toThrow('the limit is');
  });
});

describe('data of a custom loss', () => {
  const definition = traceLoss(
    (logprobs, { weights }) => ({
      loss: logprobs.mul(weights).sum(),
      metrics: { 'custom/n:sum': weights.sum(), 'custom/m:mean': weights.sum() },
    }),
    {
      inputs: { weights: 1 },
    },
  );
  const good = (scale: number) =>
    datum({ modelInput: ModelInput.fromInts([1]), lossFnInputs: { targetTokens: [1, 2], weights: [scale, scale] } });

  it('adds losses and sums up, and averages means over the data', () => {
    const logprobs = [-1, -2].map((value) => ({ data: [value, value], shape: [2] }));
    expect(compileCustomLoss(definition).run([good(1), good(3)], logprobs)).toEqual({
      loss: -2 - 12,
      gradients: [Float64Array.of(1, 1), Float64Array.of(3, 3)],
      metrics: { 'custom/n:sum': 8, 'custom/m:mean': 4 },
    });
  });

  it('must have every input with its rank', () => {
    expect(() => checkCustomLossData(definition, [good(1)])).not.toThrow();
    const bad = (lossFnInputs: LossFnInputsLike) => datum({ modelInput: ModelInput.fromInts([1]), lossFnInputs });
    expect(() => checkCustomLossData(definition, [good(1), bad({ targetTokens: [1] })])).toThrow('data[1].lossFnInputs.weights is missing');
    expect(() => checkCustomLossData(definition, [bad({ weights: [1] })])).toThrow('data[0].lossFnInputs.targetTokens is missing');
    expect(() => checkCustomLossData(definition, [bad({ targetTokens: [1], weights: [[1]] })])).toThrow('has rank 2');
    expect(() => checkCustomLossData(definition, [bad({ targetTokens: [[1]], weights: [1] })])).toThrow('declares logprobs with rank 1');
  });
});
