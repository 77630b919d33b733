import { DEFAULT_OPTIMIZER } from '@tinkex/types/wire';
import { type AdapterModule, LoraAdapter } from './adapter.js';
import { type BaseModel, createBaseModel } from './base-model.js';
import { type BaseModelOptions, builtInModels, describeModel, type KnownModel, vocabularyOf } from './base-models.js';
import { readAdapter } from './checkpoint.js';
import { type CheckpointHeader, readHeader } from './checkpoint-files.js';
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
import { LearnSampler } from './learn-sampler.js';
import { LOSS_NAMES } from './losses.js';
import type { Network } from './network.js';
import { hashText, seedWords } from './random.js';
import { BaseDistribution } from './recall/base-distribution.js';
import { RecallAdapter } from './recall/recall-adapter.js';
import { readRecall } from './recall/recall-checkpoint.js';
import { RecallModel } from './recall/recall-model.js';
import { RecallNetwork } from './recall/recall-network.js';
import { StreamSource } from './sample-streams.js';
import { TINY_VOCABULARY, TinyNetwork } from './tiny-network.js';

/** Options of {@link learnEngine}. */
export interface LearnEngineOptions {
  /**
   * The seed for models and samples that have none. What `tinkex/tiny` samples then also depends on the order of the calls; what other models
   * sample depends on the prompt and on how often it was sampled before. Default 0.
   */
  readonly seed?: number | undefined;
  /** Base models to list. `tinkex/tiny` (the default), `tinkex/small` and every model of the table in `@tinkex/types/models` work unlisted too. */
  readonly models?: readonly (string | BaseModelOptions)[] | undefined;
  /** Whether any other name is a base model as well, with a vocabulary of 262,144 tokens. Default false. */
  readonly anyModel?: boolean | undefined;
  /**
   * The log-probabilities that samples report for their tokens: `raw`, those of the model, which a training pass reports too; or `tempered`, those after
   * the temperature, which the tokens were drawn from. They are equal at temperature 1. Default `raw`.
   */
  readonly sampledLogprobs?: 'raw' | 'tempered' | undefined;
}

const MAX_RANK = 256;

/**
 * Small language models that really learn, in plain TypeScript, on one core: a frozen base that depends only on the model's name, a trainable
 * adapter, true gradients for the loss functions, AdamW and Dimuon, sampling.
 * Everything is synchronous and repeatable bit for bit: the same calls with the same seeds give the same numbers.
 *
 * **Models.** `tinkex/tiny` reads nine bytes back. `tinkex/small` and all others read their whole prompt, for any vocabulary of up to 262,144
 * tokens: they memorize, copy from the prompt, and learn from rewards. Their cost does not depend on the vocabulary.
 *
 * **Learning rates.** From 1e-3 to 5e-2, thirty steps more than halve the loss of a few sentences, at any rank from 8; from 1e-2 to 5e-2 the
 * model memorizes them (greedy sampling repeats them). Start with 1e-2. 1e-4, usual for large models, moves these slowly.
 *
 * **Flags.** `trainAttn`, `trainMlp` and `trainUnembed` select the adapters. Alone, the mlp's memory learns sentences best, the attention
 * learns to copy (in `tinkex/tiny`: what follows which byte), and the unembedding learns little more than which tokens are frequent.
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
  readonly counters: EngineCounters;
  readonly #models: Map<string, KnownModel>;
  readonly #anyModel: boolean;
  readonly #isTempered: boolean;
  readonly #seed: number;
  readonly #streams: StreamSource;
  readonly #tinyBases = new Map<string, BaseModel>();

  constructor({ seed = 0, models = [DEFAULT_BASE_MODEL], anyModel = false, sampledLogprobs = 'raw' }: LearnEngineOptions) {
    this.#seed = seed;
    this.#streams = new StreamSource(seed);
    this.counters = this.#streams.counters;
    this.#anyModel = anyModel;
    this.#isTempered = sampledLogprobs === 'tempered';
    this.#models = new Map(models.map(describeModel).map((model) => [model.modelName, model]));
    this.supportedModels = [...this.#models.values()];
  }

  findModel(modelName: string): KnownModel | undefined {
    const isKnown = builtInModels().includes(modelName) || (this.#anyModel && modelName !== '');
    return this.#models.get(modelName) ?? (isKnown ? describeModel(modelName) : undefined);
  }

  createModel({ baseModel, lora, optimizer = DEFAULT_OPTIMIZER }: ModelSpec): LearnModel {
    const info = this.#require(baseModel);
    if (!Number.isInteger(lora.rank) || lora.rank < 1 || lora.rank > MAX_RANK) {
      throw new EngineUserError(`The rank of the adapter must be a whole number from 1 to ${MAX_RANK}, got ${lora.rank}.`);
    }
    const modules: AdapterModule[] = [];
    if (lora.trainAttn ?? true) modules.push('attn');
    if (lora.trainMlp ?? true) modules.push('mlp');
    if (lora.trainUnembed ?? true) modules.push('unembed');
    if (modules.length === 0) throw new EngineUserError('Nothing to train: train_attn, train_mlp and train_unembed are all false.');
    if (optimizer.type === 'other') throw new EngineUserError(`Unknown optimizer. This engine has ${this.optimizers.join(' and ')}.`);
    const shape = { rank: lora.rank, modules };
    return new LearnModel(isTiny(info) ? this.#tinyNetwork(info, shape, lora.seed) : recallNetwork(info, shape), optimizer.type);
  }

  createSampler({
    baseModel,
    checkpoint,
  }: {
    readonly baseModel: string;
    readonly checkpoint?: CheckpointFiles | undefined;
  }): LearnSampler {
    const info = this.#require(baseModel);
    const { maxContextLength } = info;
    const header = checkpoint && headerOf(checkpoint, baseModel);
    const common = { maxContextLength, isTempered: this.#isTempered };
    if (isTiny(info)) {
      const adapter = checkpoint && header && readAdapter(checkpoint, header);
      const model = new LanguageModel(this.#tinyBase(baseModel), adapter);
      return new LearnSampler({ ...common, model, vocabulary: TINY_VOCABULARY, streams: this.#streams.inOrder });
    }
    const adapter = checkpoint && header && readRecall(checkpoint, header);
    const model = new RecallModel(baseOf(info), adapter);
    return new LearnSampler({ ...common, model, vocabulary: vocabularyOf(info), streams: this.#streams.keyed });
  }

  #tinyNetwork(
    { modelName, maxContextLength }: KnownModel,
    shape: { rank: number; modules: AdapterModule[] },
    seed?: number | bigint,
  ): Network {
    const adapter = new LoraAdapter(shape);
    adapter.initialize(hashText(modelName), ...seedWords(seed ?? this.#seed));
    return new TinyNetwork(this.#tinyBase(modelName), adapter, maxContextLength);
  }

  #require(modelName: string): KnownModel {
    const info = this.findModel(modelName);
    if (info === undefined) {
      const known = this.supportedModels.map((model) => model.modelName).join(', ');
      throw new EngineUserError(`Unknown base model '${modelName}'. This engine offers: ${known}.`);
    }
    return info;
  }

  /** Drawn on first use and shared: base weights never change. */
  #tinyBase(modelName: string): BaseModel {
    const known = this.#tinyBases.get(modelName);
    if (known !== undefined) return known;
    const base = createBaseModel(modelName);
    this.#tinyBases.set(modelName, base);
    return base;
  }
}

function isTiny({ modelName }: KnownModel): boolean {
  return modelName === DEFAULT_BASE_MODEL;
}

function baseOf({ modelName, vocabularySize }: KnownModel): BaseDistribution {
  return new BaseDistribution(modelName, vocabularySize);
}

function recallNetwork(info: KnownModel, shape: { rank: number; modules: AdapterModule[] }): Network {
  return new RecallNetwork(info.modelName, baseOf(info), new RecallAdapter(shape), vocabularyOf(info), info.maxContextLength);
}

function headerOf(checkpoint: CheckpointFiles, baseModel: string): CheckpointHeader {
  const header = readHeader(checkpoint);
  if (header.baseModel !== baseModel) throw new EngineUserError(`The checkpoint belongs to ${header.baseModel}, not to ${baseModel}.`);
  return header;
}
