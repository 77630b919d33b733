import { type AdamParams, type DimuonParams, type ForwardBackwardOutput, TensorData } from '@tinkex/types';
import { clipScale, gradientNorm } from './adamw.js';
import { customLossPass } from './custom-loss-pass.js';
import { type CheckpointFiles, type EngineForwardInput, type EngineModel, type EngineState, EngineUserError } from './engine.js';
import { findLossFunction, type LossInputs, resolveLossConfig } from './losses.js';
import type { Network } from './network.js';
import type { EngineOptimizer, Optimizer } from './optimizer.js';
import { trainingExample } from './training-example.js';
import { scoreTargets, trainingPass } from './training-pass.js';

/** A model in training: a network with its accumulated gradients, and an optimizer. */
export class LearnModel implements EngineModel {
  readonly #network: Network;
  readonly #optimizer: Optimizer;

  constructor(network: Network, optimizer: EngineOptimizer) {
    this.#network = network;
    this.#optimizer = network.createOptimizer(optimizer);
  }

  /** Checks all data before computing any: a call that throws {@link EngineUserError} leaves the gradients unchanged. */
  forward(input: EngineForwardInput, { backward }: { readonly backward: boolean }): ForwardBackwardOutput {
    if (input.data.length === 0) throw new EngineUserError('data is empty: give at least one datum.');
    const { customLoss } = input;
    if (customLoss !== undefined) return customLossPass(this.#network, input.data, customLoss, { backward });
    const { scorer, gradients } = this.#network;
    const loss = findLossFunction(input.lossFn);
    const config = resolveLossConfig(input.lossFn, loss, input.lossFnConfig);
    const examples = input.data.map((datum, index) => trainingExample(datum, index, loss, input.lossFn, this.#network));
    if (backward) for (const example of examples) gradients.prepare?.({ ...example, factorOf: factorsOf(example.inputs) });
    const totals = { loss: 0, targets: 0, weights: 0, clipped: 0 };
    const lossFnOutputs = examples.map((example) => {
      const tokenLoss = loss.bind(example.inputs, config, () => scoreTargets(scorer, example));
      const pass = trainingPass(scorer, example, tokenLoss, backward ? gradients : undefined);
      totals.loss += pass.loss;
      totals.targets += example.targets.length;
      totals.clipped += pass.clippedTargets;
      if (example.inputs.weights === undefined) totals.weights += example.targets.length;
      for (const weight of example.inputs.weights ?? []) totals.weights += weight;
      return { logprobs: tensor(pass.logprobs, example.shape), elementwise_loss: tensor(pass.elementwiseLoss, example.shape) };
    });
    const metrics: Record<string, number> = { 'loss:sum': totals.loss, 'tokens:sum': totals.targets };
    if (loss.optionalInputs.includes('weights')) metrics['weights:sum'] = totals.weights;
    if (loss.optionalInputs.includes('clipLowThreshold')) metrics['clipped_tokens:sum'] = totals.clipped;
    return { lossFnOutputType: 'ArrayRecord', lossFnOutputs, metrics };
  }

  optimStep(params: AdamParams | DimuonParams): { readonly metrics: Record<string, number> } {
    const settings = this.#optimizer.settings(params);
    const network = this.#network;
    const gradients = network.gradients.matrices();
    const norm = gradientNorm(gradients);
    if (!Number.isFinite(norm)) {
      network.gradients.clear();
      throw new EngineUserError(
        'The accumulated gradients are not finite: the step was refused and they were dropped. Check the loss inputs.',
      );
    }
    this.#optimizer.update(network.matrices(), gradients, clipScale(norm, settings.gradClipNorm), settings);
    network.gradients.clear();
    network.refresh();
    return {
      metrics: {
        'grad_norm:mean': norm,
        'learning_rate:mean': settings.learningRate,
        'optimizer_step:max': this.#optimizer.step,
      },
    };
  }

  save(kind: 'training' | 'sampler'): CheckpointFiles {
    return this.#network.save(kind === 'training' ? this.#optimizer : undefined);
  }

  load(checkpoint: CheckpointFiles, { optimizer }: { readonly optimizer: boolean }): void {
    const { family } = this.#optimizer;
    // Throws before anything has changed, so a bad checkpoint leaves the model as it was.
    const state = this.#network.load(checkpoint, optimizer ? family : undefined);
    this.#optimizer.fit(this.#network.matrices());
    this.#optimizer.restore(state);
    this.#network.gradients.clear();
  }

  state(): EngineState {
    const { step, moments } = this.#optimizer;
    const parts = new Map<string, Uint8Array>([['step', bytesOf(Float64Array.of(step))]]);
    for (const { name, values } of this.#network.matrices()) parts.set(`weights ${name}`, bytesOf(values));
    for (const [matrix, own] of moments) {
      for (const [name, values] of Object.entries(own)) parts.set(`${name} ${matrix}`, bytesOf(values));
    }
    for (const { name, values } of this.#network.gradients.sums()) parts.set(`gradient ${name}`, bytesOf(values));
    for (const [name, bytes] of this.#network.extraState()) parts.set(name, bytes);
    return parts;
  }

  restore(state: EngineState): void {
    this.#network.reserve(state);
    this.#optimizer.fit(this.#network.matrices());
    for (const [name, bytes] of this.state()) bytes.set(requirePart(state, name, bytes.length));
    const [step = 0] = new Float64Array(requirePart(state, 'step', 8).slice().buffer);
    const { family, moments } = this.#optimizer;
    // A copy, because an optimizer clears its own moments before it takes over others.
    this.#optimizer.restore({ family, step, moments: structuredClone(moments) });
    this.#network.restored(state);
  }
}

function requirePart(state: EngineState, name: string, size: number): Uint8Array {
  const bytes = state.get(name);
  if (bytes?.length !== size) throw new Error(`The stored state of the model has no part '${name}' of ${size} bytes.`);
  return bytes;
}

function bytesOf(values: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function tensor(values: Float32Array, shape: readonly number[]): TensorData {
  return TensorData.fromArray(values, 'float32', shape);
}

/** Which way each target moves: a weight or an advantage of zero moves nothing. */
function factorsOf({ weights, advantages }: LossInputs): (index: number) => number {
  const factors = weights ?? advantages;
  return (index) => factors?.[index] ?? 1;
}
