import { type AdamParams, type DimuonParams, type ForwardBackwardOutput, TensorData } from '@tinkex/types';
import { AdamW, clipScale, gradientNorm } from './adamw.js';
import type { LoraAdapter } from './adapter.js';
import type { BaseModel } from './base-model.js';
import { readAdapter, readHeader, readOptimizer, writeCheckpoint } from './checkpoint.js';
import { customLossPass } from './custom-loss-pass.js';
import { Dimuon } from './dimuon.js';
import { type CheckpointFiles, type EngineForwardInput, type EngineModel, type EngineState, EngineUserError } from './engine.js';
import { AdapterGradients } from './gradients.js';
import { LanguageModel } from './language-model.js';
import { findLossFunction, resolveLossConfig } from './losses.js';
import type { EngineOptimizer, Optimizer } from './optimizer.js';
import { trainingExample } from './training-example.js';
import { scoreTargets, trainingPass } from './training-pass.js';

/** A model in training: frozen base, adapter, accumulated gradients, optimizer. */
export class LearnModel implements EngineModel {
  readonly #base: BaseModel;
  readonly #adapter: LoraAdapter;
  readonly #maxContextLength: number;
  readonly #model: LanguageModel;
  readonly #gradients: AdapterGradients;
  readonly #optimizer: Optimizer;

  constructor(base: BaseModel, adapter: LoraAdapter, maxContextLength: number, optimizer: EngineOptimizer) {
    this.#base = base;
    this.#adapter = adapter;
    this.#maxContextLength = maxContextLength;
    this.#model = new LanguageModel(base, adapter);
    this.#gradients = new AdapterGradients(this.#model, adapter);
    this.#optimizer = optimizer === 'dimuon' ? new Dimuon(adapter.matrices(), adapter.rank) : new AdamW(adapter.matrices());
  }

  /** Checks all data before computing any: a call that throws {@link EngineUserError} leaves the gradients unchanged. */
  forward(input: EngineForwardInput, { backward }: { readonly backward: boolean }): ForwardBackwardOutput {
    if (input.data.length === 0) throw new EngineUserError('data is empty: give at least one datum.');
    const { customLoss } = input;
    if (customLoss !== undefined) {
      return customLossPass(this.#model, input.data, customLoss, this.#maxContextLength, backward ? this.#gradients : undefined);
    }
    const loss = findLossFunction(input.lossFn);
    const config = resolveLossConfig(input.lossFn, loss, input.lossFnConfig);
    const examples = input.data.map((datum, index) => trainingExample(datum, index, loss, input.lossFn, this.#maxContextLength));
    const totals = { loss: 0, targets: 0, weights: 0, clipped: 0 };
    const lossFnOutputs = examples.map((example) => {
      const tokenLoss = loss.bind(example.inputs, config, () => scoreTargets(this.#model, example));
      const pass = trainingPass(this.#model, example, tokenLoss, backward ? this.#gradients : undefined);
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
    const gradients = this.#gradients.matrices();
    const norm = gradientNorm(gradients);
    if (!Number.isFinite(norm)) {
      this.#gradients.clear();
      throw new EngineUserError(
        'The accumulated gradients are not finite: the step was refused and they were dropped. Check the loss inputs.',
      );
    }
    this.#optimizer.update(this.#adapter.matrices(), gradients, clipScale(norm, settings.gradClipNorm), settings);
    this.#gradients.clear();
    this.#model.mergeUnembedding();
    return {
      metrics: {
        'grad_norm:mean': norm,
        'learning_rate:mean': settings.learningRate,
        'optimizer_step:max': this.#optimizer.step,
      },
    };
  }

  save(kind: 'training' | 'sampler'): CheckpointFiles {
    return writeCheckpoint(this.#base.name, this.#adapter, kind === 'training' ? this.#optimizer : undefined);
  }

  load(checkpoint: CheckpointFiles, { optimizer }: { readonly optimizer: boolean }): void {
    const header = readHeader(checkpoint);
    const own = describe(this.#base.name, this.#adapter);
    const theirs = describe(header.baseModel, header);
    if (own !== theirs) throw new EngineUserError(`The checkpoint does not fit: it holds ${theirs}, this model is ${own}.`);
    const adapter = readAdapter(checkpoint, header);
    const state = optimizer ? readOptimizer(checkpoint, adapter, this.#optimizer.family) : undefined;
    // Nothing has changed up to here, so a bad checkpoint leaves the model as it was.
    this.#adapter.copyFrom(adapter);
    this.#optimizer.restore(state);
    this.#gradients.clear();
    this.#model.mergeUnembedding();
  }

  state(): EngineState {
    const { step, moments } = this.#optimizer;
    const parts = new Map<string, Uint8Array>([['step', bytesOf(Float64Array.of(step))]]);
    for (const { name, values } of this.#adapter.matrices()) parts.set(`weights ${name}`, bytesOf(values));
    for (const [matrix, own] of moments) {
      for (const [name, values] of Object.entries(own)) parts.set(`${name} ${matrix}`, bytesOf(values));
    }
    for (const { name, values } of this.#gradients.sums()) parts.set(`gradient ${name}`, bytesOf(values));
    return parts;
  }

  restore(state: EngineState): void {
    for (const [name, bytes] of this.state()) bytes.set(requirePart(state, name, bytes.length));
    const [step = 0] = new Float64Array(requirePart(state, 'step', 8).slice().buffer);
    const { family, moments } = this.#optimizer;
    // A copy, because an optimizer clears its own moments before it takes over others.
    this.#optimizer.restore({ family, step, moments: structuredClone(moments) });
    this.#model.mergeUnembedding();
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

function describe(baseModel: string, { rank, modules }: { rank: number; modules: readonly string[] }): string {
  return `a rank ${rank} adapter (${modules.join(', ')}) of ${baseModel}`;
}
