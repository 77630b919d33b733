import { BYTE_TOKENIZER_ID } from '@tinkex/types';
import { DEFAULT_OPTIMIZER } from '@tinkex/types/wire';
import { type AdapterModule, LoraAdapter } from './adapter.js';
import { type BaseModel, createBaseModel } from './base-model.js';
import { readAdapter, readHeader } from './checkpoint.js';
import {
  type CheckpointFiles,
  DEFAULT_BASE_MODEL,
  type Engine,
  type EngineCounters,
  type EngineModelInfo,
  EngineUserError,
  type ModelSpec,
} from './engine.js';
import { LanguageModel } from './language-model.js';
import { LearnModel } from './learn-model.js';
import { LearnSampler, type SampleStreams } from './learn-sampler.js';
import { LOSS_NAMES } from './losses.js';
import { hashText, seededStream, seedWords } from './random.js';

/** Options of {@link learnEngine}. */
export interface LearnEngineOptions {
  /**
   * The seed for models and samples that have none. What is sampled then also depends on the order of the calls. Default 0.
   */
  readonly seed?: number | undefined;
  /** Base models to offer: a name, or a name with a context length. Default: `tinkex/tiny` with 32,768 tokens. */
  readonly models?: readonly (string | { readonly modelName: string; readonly maxContextLength?: number | undefined })[] | undefined;
}

const DEFAULT_CONTEXT_LENGTH = 32_768;
const MAX_RANK = 256;
const UNSEEDED = 'unseeded';

/**
 * A small language model that really learns, in plain TypeScript, on one core: byte-level vocabulary, a frozen base that depends only on the
 * model's name, a trainable low-rank adapter, true gradients for the loss functions, AdamW and Dimuon, sampling.
 * Everything is synchronous and repeatable bit for bit: the same calls with the same seeds give the same numbers.
 *
 * **Learning rates.** From 1e-3 to 5e-2, thirty steps more than halve the loss of a few sentences, at any rank from 8; from 1e-2 to 5e-2 the
 * model memorizes them (greedy sampling repeats them). Start with 1e-2. 1e-4, usual for large models, moves this one slowly.
 *
 * **Flags.** `trainAttn`, `trainMlp` and `trainUnembed` select the adapters. Alone, the mlp's memory learns sentences best, the attention's
 * offsets learn more slowly, and the unembedding learns little more than which bytes are frequent.
 *
 * **Images and audio** are read as repeatable noise derived from their content: they condition the text but are never predicted. An image must
 * have `expectedTokens`.
 *
 * **Errors** that a caller can fix (unknown model, loss or configuration, missing inputs or inputs of the wrong shape, tokens outside the
 * vocabulary, a context that is too long) are `EngineUserError`s. A call that throws one changes nothing, except that an optimizer step drops
 * gradients that are not finite.
 */
export function learnEngine(options: LearnEngineOptions = {}): Engine {
  return new LearnEngine(options);
}

class LearnEngine implements Engine {
  readonly name = 'learn';
  readonly optimizers = ['adamw', 'dimuon'] as const;
  readonly lossFunctions = [...LOSS_NAMES, 'custom'];
  readonly supportedModels: readonly EngineModelInfo[];
  readonly #seed: number;
  readonly #bases = new Map<string, BaseModel>();
  #unseededCalls = 0;
  #reportedCalls = 0;

  constructor({ seed = 0, models = [DEFAULT_BASE_MODEL] }: LearnEngineOptions) {
    this.#seed = seed;
    this.supportedModels = models.map((model) => {
      const { modelName, maxContextLength = DEFAULT_CONTEXT_LENGTH } = typeof model === 'string' ? { modelName: model } : model;
      return { modelName, maxContextLength, tokenizerId: BYTE_TOKENIZER_ID, arch: 'tinkex-sparse-ngram' };
    });
  }

  createModel({ baseModel, lora, optimizer = DEFAULT_OPTIMIZER }: ModelSpec): LearnModel {
    const info = this.#find(baseModel);
    if (!Number.isInteger(lora.rank) || lora.rank < 1 || lora.rank > MAX_RANK) {
      throw new EngineUserError(`The rank of the adapter must be a whole number from 1 to ${MAX_RANK}, got ${lora.rank}.`);
    }
    const modules: AdapterModule[] = [];
    if (lora.trainAttn ?? true) modules.push('attn');
    if (lora.trainMlp ?? true) modules.push('mlp');
    if (lora.trainUnembed ?? true) modules.push('unembed');
    if (modules.length === 0) throw new EngineUserError('Nothing to train: train_attn, train_mlp and train_unembed are all false.');
    const adapter = new LoraAdapter({ rank: lora.rank, modules });
    adapter.initialize(hashText(baseModel), ...seedWords(lora.seed ?? this.#seed));
    if (optimizer.type === 'other') throw new EngineUserError(`Unknown optimizer. This engine has ${this.optimizers.join(' and ')}.`);
    return new LearnModel(this.#base(baseModel), adapter, info.maxContextLength, optimizer.type);
  }

  createSampler({
    baseModel,
    checkpoint,
  }: {
    readonly baseModel: string;
    readonly checkpoint?: CheckpointFiles | undefined;
  }): LearnSampler {
    const info = this.#find(baseModel);
    const adapter = checkpoint === undefined ? undefined : adapterOf(checkpoint, baseModel);
    return new LearnSampler(new LanguageModel(this.#base(baseModel), adapter), info.maxContextLength, this.#streams);
  }

  /** Samples without a seed take the next number: after a restart too. */
  readonly counters: EngineCounters = {
    entries: () => [[UNSEEDED, this.#unseededCalls]],
    takeChanged: () => {
      const changed = this.#reportedCalls === this.#unseededCalls ? [] : this.counters.entries();
      this.#reportedCalls = this.#unseededCalls;
      return changed;
    },
    restore: (entries) => {
      this.#unseededCalls = new Map(entries).get(UNSEEDED) ?? 0;
      this.#reportedCalls = this.#unseededCalls;
    },
  };

  readonly #streams: SampleStreams = (seed) => {
    const seeds = seed === undefined ? [...seedWords(this.#seed), hashText(UNSEEDED), ++this.#unseededCalls] : seedWords(seed);
    return (index) => seededStream(...seeds, index);
  };

  #find(modelName: string): EngineModelInfo {
    const info = this.supportedModels.find((model) => model.modelName === modelName);
    if (info === undefined) {
      const known = this.supportedModels.map((model) => model.modelName).join(', ');
      throw new EngineUserError(`Unknown base model '${modelName}'. This engine offers: ${known}.`);
    }
    return info;
  }

  /** Drawn on first use and shared: base weights never change. */
  #base(modelName: string): BaseModel {
    const known = this.#bases.get(modelName);
    if (known !== undefined) return known;
    const base = createBaseModel(modelName);
    this.#bases.set(modelName, base);
    return base;
  }
}

function adapterOf(checkpoint: CheckpointFiles, baseModel: string): LoraAdapter {
  const header = readHeader(checkpoint);
  if (header.baseModel !== baseModel) throw new EngineUserError(`The checkpoint belongs to ${header.baseModel}, not to ${baseModel}.`);
  return readAdapter(checkpoint, header);
}
