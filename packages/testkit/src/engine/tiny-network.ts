import { AdamW } from './adamw.js';
import type { AdapterMatrix, LoraAdapter } from './adapter.js';
import type { BaseModel } from './base-model.js';
import { readAdapter, readOptimizer, writeCheckpoint } from './checkpoint.js';
import { readHeader, requireFit } from './checkpoint-files.js';
import { Dimuon } from './dimuon.js';
import type { CheckpointFiles, EngineState } from './engine.js';
import { FIRST_MEDIA_SYMBOL, SYMBOLS, VOCABULARY } from './geometry.js';
import { AdapterGradients } from './gradients.js';
import { LanguageModel } from './language-model.js';
import type { Network } from './network.js';
import type { EngineOptimizer, Optimizer, OptimizerState } from './optimizer.js';
import { BYTE_END_TOKENS, BYTE_HINT, type Vocabulary } from './vocabulary.js';

/** What `tinkex/tiny` reads and writes. */
export const TINY_VOCABULARY: Vocabulary = {
  size: VOCABULARY,
  endTokens: BYTE_END_TOKENS,
  isByteLevel: true,
  firstMediaSymbol: FIRST_MEDIA_SYMBOL,
  mediaSymbols: SYMBOLS - FIRST_MEDIA_SYMBOL,
  hint: BYTE_HINT,
};

/** The network of `tinkex/tiny`: six low-rank factors around a narrow stream. */
export class TinyNetwork implements Network {
  readonly vocabulary = TINY_VOCABULARY;
  readonly maxContextLength: number;
  readonly scorer: LanguageModel;
  readonly gradients: AdapterGradients;
  readonly #base: BaseModel;
  readonly #adapter: LoraAdapter;

  constructor(base: BaseModel, adapter: LoraAdapter, maxContextLength: number) {
    this.#base = base;
    this.#adapter = adapter;
    this.maxContextLength = maxContextLength;
    this.scorer = new LanguageModel(base, adapter);
    this.gradients = new AdapterGradients(this.scorer, adapter);
  }

  matrices(): AdapterMatrix<Float32Array>[] {
    return this.#adapter.matrices();
  }

  createOptimizer(family: EngineOptimizer): Optimizer {
    return family === 'dimuon' ? new Dimuon(this.matrices(), this.#adapter.rank) : new AdamW(this.matrices());
  }

  refresh(): void {
    this.scorer.mergeUnembedding();
  }

  save(optimizer?: OptimizerState): CheckpointFiles {
    return writeCheckpoint(this.#base.name, this.#adapter, optimizer);
  }

  load(checkpoint: CheckpointFiles, family?: EngineOptimizer): OptimizerState | undefined {
    const header = readHeader(checkpoint);
    const { rank, modules } = this.#adapter;
    requireFit(header, { baseModel: this.#base.name, rank, modules });
    const adapter = readAdapter(checkpoint, header);
    const state = family === undefined ? undefined : readOptimizer(checkpoint, adapter, family);
    this.#adapter.copyFrom(adapter);
    this.refresh();
    return state;
  }

  extraState(): EngineState {
    return new Map();
  }

  /** All sizes are fixed. */
  reserve(): void {
    // Nothing to do.
  }

  restored(): void {
    this.refresh();
  }
}
