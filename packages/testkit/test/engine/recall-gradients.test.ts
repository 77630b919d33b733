import { describe, expect, it } from 'vitest';
import { ADAPTER_MODULES } from '../../src/engine/adapter.js';
import { findLossFunction, type LossInputs, resolveLossConfig, type TokenLossFunction } from '../../src/engine/losses.js';
import { fillUniform, seededStream } from '../../src/engine/random.js';
import { BaseDistribution } from '../../src/engine/recall/base-distribution.js';
import { RecallAdapter } from '../../src/engine/recall/recall-adapter.js';
import { RecallGradients } from '../../src/engine/recall/recall-gradients.js';
import { RecallModel } from '../../src/engine/recall/recall-model.js';
import { scoreTargets, trainingPass } from '../../src/engine/training-pass.js';
import { directionalDifference, dot } from './finite-differences.js';

const context = Int32Array.of(5, 9, 151_900, 7, 5, 9, 8, 7, 5, 9, 151_900, 4, 4, 4, 5);
const targets = Int32Array.of(9, 151_900, 7, 5, 9, 8, 7, 5, 9, 8, 4, 4, 4, 5, 9);
const input = { context, targets, targetsPerPosition: 1 };

/** A model in the middle of training: every weight that exists is not zero. */
function trained(vocabularySize: number) {
  const adapter = new RecallAdapter({ rank: 1, modules: ADAPTER_MODULES });
  const model = new RecallModel(new BaseDistribution('test', vocabularySize), adapter);
  const gradients = new RecallGradients(model, adapter);
  gradients.prepare({ ...input, factorOf: (index) => (index % 5 === 1 ? 0 : 1) });
  fillUniform(adapter.relations!, 0.02, seededStream(3));
  fillUniform(adapter.memory!.weights.subarray(0, adapter.memory!.count), 0.2, seededStream(1));
  fillUniform(adapter.tokens!.weights.subarray(0, adapter.tokens!.count), 0.5, seededStream(2));
  model.refresh();
  return { adapter, model, gradients };
}

function expectTrueGradients(lossOf: (score: () => Float64Array) => TokenLossFunction, reference = lossOf): void {
  const { adapter, model, gradients } = trained(151_936);
  const score = () => scoreTargets(model, input);
  trainingPass(model, input, lossOf(score), gradients);
  const found = gradients.matrices();
  const random = seededStream(5);
  for (const [index, { name, values }] of adapter.matrices().entries()) {
    const gradient = found[index]!.values;
    expect(found[index]!.name).toBe(name);
    expect(gradient.some((value) => value !== 0)).toBe(true);
    const steepest = [...gradient.keys()].sort((a, b) => Math.abs(gradient[b]!) - Math.abs(gradient[a]!)).slice(0, 3);
    const single = steepest.map((at) => Float64Array.from(values, (_, position) => (position === at ? 1 : 0)));
    // Along the weights that exist; the rest of a growing table is not in use.
    const everywhere = Float64Array.from(values, (value) => (value === 0 ? 0 : 2 * random() - 1));
    for (const direction of [everywhere, ...single]) {
      const loss = () => {
        model.refresh();
        return trainingPass(model, input, reference(score)).loss;
      };
      const { difference, moved } = directionalDifference(values, direction, 2e-5, loss);
      model.refresh();
      const expected = dot(gradient, moved);
      const scale = Math.sqrt(dot(gradient, gradient)) * Math.sqrt(dot(moved, moved));
      expect(Math.abs(difference - expected), `${name}: ${difference} against ${expected}`).toBeLessThan(2e-5 * scale + 1e-12);
    }
  }
}

function bind(name: string, inputs: LossInputs, config?: Record<string, number>) {
  const loss = findLossFunction(name);
  return (score: () => Float64Array) => loss.bind(inputs, resolveLossConfig(name, loss, config), score);
}

/** Sampling log-probabilities around the model's own, away from the clip thresholds. */
function policyInputs(): LossInputs {
  const offsets = [-0.6, -0.1, 0, 0.12, 0.7];
  const logprobs = Float32Array.from(scoreTargets(trained(151_936).model, input), (logprob, index) => logprob - offsets[index % 5]!);
  const stream = seededStream(4);
  return { logprobs, advantages: Float32Array.from(logprobs, () => 4 * stream() - 2) };
}

describe('gradients of the recall model agree with finite differences', () => {
  it('cross_entropy with weights of either sign', () => {
    const stream = seededStream(9);
    expectTrueGradients(bind('cross_entropy', { weights: Float32Array.from(targets, () => 3 * stream() - 1) }));
  });

  it.each(['importance_sampling', 'ppo', 'dro'])('%s', (name) => expectTrueGradients(bind(name, policyInputs())));

  it('cispo, whose clipped ratio is a constant', () => {
    const inputs = policyInputs();
    const fixed = scoreTargets(trained(151_936).model, input);
    const constant =
      (_: () => Float64Array): TokenLossFunction =>
      (logprob, index, out) => {
        const ratio = Math.exp(fixed[index]! - inputs['logprobs']![index]!);
        out.value = -Math.min(Math.max(ratio, 0.8), 1.2) * inputs['advantages']![index]! * logprob;
      };
    expectTrueGradients(bind('cispo', inputs), constant);
  });

  it('gspo, whose ratio is that of the whole sequence', () => expectTrueGradients(bind('gspo', policyInputs())));
});

describe('the distribution of the recall model', () => {
  it.each([17, 260, 151_936, 262_144])('adds up to one over a vocabulary of %i tokens', (vocabularySize) => {
    const adapter = new RecallAdapter({ rank: 1, modules: ADAPTER_MODULES });
    const model = new RecallModel(new BaseDistribution('test', vocabularySize), adapter);
    const gradients = new RecallGradients(model, adapter);
    const folded = context.map((token) => token % vocabularySize);
    gradients.prepare({
      context: folded,
      targets: targets.map((token) => token % vocabularySize),
      targetsPerPosition: 1,
      factorOf: () => 1,
    });
    for (const { values } of adapter.matrices()) fillUniform(values, 3, seededStream(vocabularySize));
    model.refresh();
    for (const position of [0, 7, 14]) {
      model.forward(folded, position);
      let sum = 0;
      for (let token = 0; token < vocabularySize; token++) sum += Math.exp(model.logprob(token));
      expect(sum).toBeCloseTo(1, 9);
    }
  });

  it('ranks all tokens by their probability', () => {
    const { model } = trained(151_936);
    model.forward(context, 9);
    const ranked = model.mostLikely(50);
    const probabilities = [...ranked].map((token) => model.logprob(token));
    expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a));
    let better = 0;
    for (let token = 0; token < 151_936; token++) if (model.logprob(token) > probabilities.at(-1)!) better++;
    expect(better).toBeLessThan(50);
    expect(new Set(ranked).size).toBe(50);
  });

  it.each([
    { temperature: 1, topK: -1, topP: 1 },
    { temperature: 0.5, topK: -1, topP: 1 },
    { temperature: 1, topK: 3, topP: 1 },
    { temperature: 1.5, topK: -1, topP: 0.4 },
  ])('is what tokens are drawn from: %o', (settings) => {
    const { model } = trained(40);
    const small = context.map((token) => token % 40);
    model.forward(small, 9);
    const weights = Array.from({ length: 40 }, (_, token) => Math.exp(model.logprob(token) / settings.temperature));
    const order = [...weights.keys()].sort((a, b) => weights[b]! - weights[a]!);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let kept = settings.topK > 0 ? order.slice(0, settings.topK) : order;
    let mass = 0;
    if (settings.topP < 1) {
      kept = kept.filter((token) => {
        const isKept = mass < settings.topP * total;
        mass += weights[token]!;
        return isKept;
      });
    }
    const keptTotal = kept.reduce((sum, token) => sum + weights[token]!, 0);
    const counts = new Map<number, number>();
    const random = seededStream(8);
    for (let draw = 0; draw < 4_000; draw++) {
      const token = model.draw(settings, random);
      counts.set(token, (counts.get(token) ?? 0) + 1);
    }
    for (const token of counts.keys()) expect(kept).toContain(token);
    for (const token of kept) expect((counts.get(token) ?? 0) / 4_000).toBeCloseTo(weights[token]! / keptTotal, 1);
  });
});
