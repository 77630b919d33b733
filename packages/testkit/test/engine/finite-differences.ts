import { ADAPTER_MODULES, type AdapterModule, LoraAdapter } from '../../src/engine/adapter.js';
import { createBaseModel } from '../../src/engine/base-model.js';
import { AdapterGradients } from '../../src/engine/gradients.js';
import { LanguageModel } from '../../src/engine/language-model.js';
import type { TokenLossFunction } from '../../src/engine/losses.js';
import { fillUniform, seededStream } from '../../src/engine/random.js';
import { type PassInput, trainingPass } from '../../src/engine/training-pass.js';

/** A model in the middle of training: both factors of every pair are non-zero, so every matrix has a gradient. */
export function trainedModel(rank: number, modules: readonly AdapterModule[] = ADAPTER_MODULES) {
  const adapter = new LoraAdapter({ rank, modules });
  adapter.initialize(7);
  for (const module of modules) fillUniform(adapter.pair(module)!.b, 0.05, seededStream(11, module.length));
  const model = new LanguageModel(createBaseModel('tinkex/tiny'), adapter);
  return { adapter, model, gradients: new AdapterGradients(model, adapter) };
}

export type Trained = ReturnType<typeof trainedModel>;

/** Next-token inputs for a text, each position with its successor as target. */
export function textInput(text: string): PassInput {
  const tokens = Int32Array.from(new TextEncoder().encode(text));
  return { context: tokens.slice(0, -1), targets: tokens.slice(1), targetsPerPosition: 1 };
}

/** The summed loss under the adapter's present weights. */
export function lossOf({ model }: Trained, input: PassInput, tokenLoss: TokenLossFunction): number {
  model.mergeUnembedding();
  return trainingPass(model, input, tokenLoss).loss;
}

/**
 * Central difference of `loss()` along `direction` in one matrix. Weights are float32, so the step actually taken is measured, not assumed:
 * the returned `moved` is the displacement in float64.
 */
export function directionalDifference(values: Float32Array, direction: Float64Array, step: number, loss: () => number) {
  const saved = values.slice();
  const plus = new Float32Array(values.length);
  const minus = new Float32Array(values.length);
  for (let index = 0; index < values.length; index++) {
    plus[index] = saved[index]! + step * direction[index]!;
    minus[index] = saved[index]! - step * direction[index]!;
  }
  values.set(plus);
  const above = loss();
  values.set(minus);
  const below = loss();
  values.set(saved);
  const moved = Float64Array.from(plus, (value, index) => value - minus[index]!);
  return { difference: above - below, moved };
}

export function dot(left: Float64Array, right: Float64Array): number {
  return left.reduce((sum, value, index) => sum + value * right[index]!, 0);
}
