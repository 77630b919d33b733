import { describe, expect, it } from 'vitest';
import { ADAPTER_MODULES } from '../../src/engine/adapter.js';
import type { LanguageModel } from '../../src/engine/language-model.js';
import { findLossFunction, type LossInputs, resolveLossConfig, type TokenLossFunction } from '../../src/engine/losses.js';
import { seededStream } from '../../src/engine/random.js';
import { type PassInput, scoreTargets, trainingPass } from '../../src/engine/training-pass.js';
import { directionalDifference, dot, lossOf, textInput, trainedModel } from './finite-differences.js';

const input = textInput('Gradients are sums, never means; check them all.');
const matrixNames = ADAPTER_MODULES.flatMap((module) => [`${module}.a`, `${module}.b`]);

/** Compares the gradients of `tokenLoss` with central differences of `reference` (the same loss, unless a part of it is held constant). */
function expectTrueGradients(
  tokenLoss: TokenLossFunction,
  options: { input?: PassInput; reference?: TokenLossFunction; rebind?: (model: LanguageModel) => TokenLossFunction; rank?: number } = {},
) {
  const trained = trainedModel(options.rank ?? 8);
  const passInput = options.input ?? input;
  trainingPass(trained.model, passInput, tokenLoss, trained.gradients);
  const gradients = trained.gradients.matrices();
  const reference = () => {
    trained.model.mergeUnembedding();
    return lossOf(trained, passInput, options.rebind?.(trained.model) ?? options.reference ?? tokenLoss);
  };
  const random = seededStream(5);
  for (const [index, { name, values }] of trained.adapter.matrices().entries()) {
    const gradient = gradients[index]!.values;
    expect(gradients[index]!.name).toBe(name);
    expect(gradient.some((value) => value !== 0)).toBe(true);
    // One random direction through the whole matrix, then single weights: the steepest ones and some at random.
    const everywhere = Float64Array.from(values, () => 2 * random() - 1);
    const steepest = [...gradient.keys()].sort((a, b) => Math.abs(gradient[b]!) - Math.abs(gradient[a]!)).slice(0, 3);
    const anywhere = Array.from({ length: 3 }, () => Math.floor(random() * values.length));
    const single = [...steepest, ...anywhere].map((at) => Float64Array.from(values, (_, position) => (position === at ? 1 : 0)));
    for (const direction of [everywhere, ...single]) {
      const { difference, moved } = directionalDifference(values, direction, 2e-5, reference);
      const expected = dot(gradient, moved);
      const scale = Math.sqrt(dot(gradient, gradient)) * Math.sqrt(dot(moved, moved));
      expect(Math.abs(difference - expected), `${name}: ${difference} against ${expected}`).toBeLessThan(1e-5 * scale + 1e-12);
    }
  }
}

function random(length: number, seed: number, low: number, high: number): Float32Array {
  const stream = seededStream(seed);
  return Float32Array.from({ length }, () => low + (high - low) * stream());
}

function bind(name: string, inputs: LossInputs, config?: Record<string, number>): TokenLossFunction {
  const loss = findLossFunction(name);
  return loss.bind(inputs, resolveLossConfig(name, loss, config), () => {
    throw new Error(`${name} asked for all log-probabilities`);
  });
}

/** Sampling log-probabilities around the model's own, far enough from the clip thresholds for the loss to be smooth there. */
function policyInputs(): LossInputs {
  const { model } = trainedModel(8);
  const { logprobs } = trainingPass(model, input, bind('cross_entropy', { weights: new Float32Array(input.targets.length) }));
  const offsets = [-0.6, -0.1, 0, 0.12, 0.7];
  return {
    logprobs: logprobs.map((logprob, index) => logprob - offsets[index % offsets.length]!),
    advantages: random(logprobs.length, 3, -2, 2),
  };
}

describe('gradients agree with finite differences in every matrix', () => {
  const count = input.targets.length;

  it('checks all six matrices', () => {
    expect(
      trainedModel(8)
        .adapter.matrices()
        .map(({ name }) => name),
    ).toEqual(matrixNames);
  });

  it.each([1, 8, 32])('cross_entropy with weights of either sign, rank %i', (rank) => {
    expectTrueGradients(bind('cross_entropy', { weights: random(count, 1, -1, 2) }), { rank });
  });

  it('cross_entropy with several targets a position', () => {
    const tokens = random(count * 3, 2, 0, 260).map(Math.floor);
    const several: PassInput = { context: input.context, targets: Int32Array.from(tokens), targetsPerPosition: 3 };
    expectTrueGradients(bind('cross_entropy', { weights: random(count * 3, 4, 0, 1) }), { input: several });
  });

  it('importance_sampling', () => {
    expectTrueGradients(bind('importance_sampling', policyInputs()));
  });

  it('ppo, on both sides of its clip range', () => {
    const inputs = policyInputs();
    const loss = bind('ppo', inputs);
    expectTrueGradients(loss);
    const { clippedTargets } = trainingPass(trainedModel(8).model, input, loss);
    expect(clippedTargets).toBeGreaterThan(3);
    expect(clippedTargets).toBeLessThan(count - 3);
  });

  it('ppo with thresholds for each token', () => {
    const thresholds = { clipLowThreshold: random(count, 6, 0.5, 0.55), clipHighThreshold: random(count, 7, 1.05, 1.1) };
    expectTrueGradients(bind('ppo', { ...policyInputs(), ...thresholds }));
  });

  it('cispo, whose clipped ratio is a constant', () => {
    const inputs = policyInputs();
    const { model } = trainedModel(8);
    const { logprobs } = trainingPass(model, input, bind('cispo', inputs));
    const held = logprobs.map((logprob, index) => {
      const ratio = Math.exp(logprob - inputs.logprobs![index]!);
      return Math.min(Math.max(ratio, 0.8), 1.2) * inputs.advantages![index]!;
    });
    expectTrueGradients(bind('cispo', inputs), { reference: bind('cross_entropy', { weights: held }) });
  });

  it('dro', () => {
    expectTrueGradients(bind('dro', policyInputs(), { beta: 0.3 }));
  });

  it.each([
    ['within the clip range', { clip_low_threshold: 0.5, clip_high_threshold: 2 }],
    ['above it, so that only negative advantages count', { clip_low_threshold: 0.1, clip_high_threshold: 0.5 }],
  ])('gspo, whose ratio is that of the whole masked sequence, %s', (_name, config) => {
    const inputs = { ...policyInputs(), sequenceRatioMask: Float32Array.from({ length: count }, (_, index) => (index % 3 === 0 ? 0 : 1)) };
    const loss = findLossFunction('gspo');
    // The ratio belongs to the weights: it is computed again wherever the loss is measured.
    const bound = (model: LanguageModel) => loss.bind(inputs, resolveLossConfig('gspo', loss, config), () => scoreTargets(model, input));
    expectTrueGradients(bound(trainedModel(8).model), { rebind: bound });
  });

  it('a custom loss C, sent as cross_entropy with weights -dC/dlogprob', () => {
    // C = Σ l² / 2 + (Σ l) / 3, so dC/dl = l + 1/3.
    const { model } = trainedModel(8);
    const { logprobs } = trainingPass(model, input, bind('cross_entropy', { weights: new Float32Array(count) }));
    const custom: TokenLossFunction = (logprob, _index, out) => {
      out.value = logprob ** 2 / 2 + logprob / 3;
      out.slope = Number.NaN;
    };
    expectTrueGradients(bind('cross_entropy', { weights: logprobs.map((logprob) => -(logprob + 1 / 3)) }), { reference: custom });
  });
});

describe('accumulated gradients', () => {
  it('add up over passes and start again at zero after clear', () => {
    const loss = bind('cross_entropy', { weights: new Float32Array(64).fill(1) });
    const [first, second] = [textInput('one part'), textInput('another part')];
    const read = (...parts: PassInput[]) => {
      const { model, gradients } = trainedModel(4);
      trainingPass(model, first, loss, gradients);
      gradients.clear();
      for (const part of parts) trainingPass(model, part, loss, gradients);
      return gradients.matrices().flatMap(({ values }) => Array.from(values));
    };
    const both = read(first, second);
    const alone = [read(first), read(second)];
    const worst = both.map((value, index) => Math.abs(value - alone[0]![index]! - alone[1]![index]!)).reduce((a, b) => Math.max(a, b));
    expect(worst).toBeLessThan(1e-12);
    expect(both.some((value) => Math.abs(value) > 1e-3)).toBe(true);
  });

  it('are untouched by positions with no slope', () => {
    const { model, gradients } = trainedModel(4);
    trainingPass(model, input, bind('cross_entropy', { weights: new Float32Array(input.targets.length) }), gradients);
    expect(gradients.matrices().every(({ values }) => values.every((value) => value === 0))).toBe(true);
  });

  it('exist only for the modules of the adapter', () => {
    const { model, gradients } = trainedModel(4, ['mlp']);
    trainingPass(model, input, bind('cross_entropy', { weights: new Float32Array(input.targets.length).fill(1) }), gradients);
    expect(gradients.matrices().map(({ name }) => name)).toEqual(['mlp.a', 'mlp.b']);
  });
});
