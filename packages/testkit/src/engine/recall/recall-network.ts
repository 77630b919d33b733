import { AdamW } from '../adamw.js';
import type { AdapterMatrix } from '../adapter.js';
import { readHeader, requireFit } from '../checkpoint-files.js';
import { Dimuon } from '../dimuon.js';
import type { CheckpointFiles, EngineState } from '../engine.js';
import type { Network } from '../network.js';
import type { EngineOptimizer, Optimizer, OptimizerState } from '../optimizer.js';
import type { Vocabulary } from '../vocabulary.js';
import type { BaseDistribution } from './base-distribution.js';
import type { RecallAdapter } from './recall-adapter.js';
import { readRecall, readRecallOptimizer, writeRecall } from './recall-checkpoint.js';
import { RecallGradients } from './recall-gradients.js';
import { RecallModel } from './recall-model.js';

const BYTES_PER_WEIGHT = 4;

/** The network of all models but `tinkex/tiny`. */
export class RecallNetwork implements Network {
  readonly vocabulary: Vocabulary;
  readonly maxContextLength: number;
  readonly scorer: RecallModel;
  readonly gradients: RecallGradients;
  readonly #name: string;
  readonly #adapter: RecallAdapter;

  constructor(name: string, base: BaseDistribution, adapter: RecallAdapter, vocabulary: Vocabulary, maxContextLength: number) {
    this.#name = name;
    this.#adapter = adapter;
    this.vocabulary = vocabulary;
    this.maxContextLength = maxContextLength;
    this.scorer = new RecallModel(base, adapter);
    this.gradients = new RecallGradients(this.scorer, adapter);
  }

  matrices(): AdapterMatrix<Float32Array>[] {
    return this.#adapter.matrices();
  }

  /** The weights are long vectors, not matrices. To Dimuon each is a single column: every step goes one length along the mean gradient. */
  createOptimizer(family: EngineOptimizer): Optimizer {
    return family === 'dimuon' ? new Dimuon(this.matrices(), 1) : new AdamW(this.matrices());
  }

  refresh(): void {
    this.scorer.refresh();
  }

  save(optimizer?: OptimizerState): CheckpointFiles {
    return writeRecall(this.#name, this.#adapter, optimizer);
  }

  load(checkpoint: CheckpointFiles, family?: EngineOptimizer): OptimizerState | undefined {
    const header = readHeader(checkpoint);
    const { rank, modules } = this.#adapter;
    requireFit(header, { baseModel: this.#name, rank, modules });
    const adapter = readRecall(checkpoint, header);
    const state = family === undefined ? undefined : readRecallOptimizer(checkpoint, adapter, family);
    this.#adapter.copyFrom(adapter);
    this.gradients.fit();
    this.refresh();
    return state;
  }

  extraState(): EngineState {
    return new Map(
      this.#adapter
        .tables()
        .flatMap(([name, { keys, tokens, count }]) => [
          [`keys ${name}`, bytesOf(keys)] as const,
          [`tokens ${name}`, bytesOf(tokens)] as const,
          [`count ${name}`, bytesOf(Int32Array.of(count))] as const,
        ]),
    );
  }

  reserve(state: EngineState): void {
    for (const [name, table] of this.#adapter.tables()) {
      table.reserve((state.get(`weights ${name}`)?.length ?? 0) / BYTES_PER_WEIGHT);
    }
    this.gradients.fit();
  }

  /** Takes the arrays as they are now, after they were filled from a stored state. */
  restored(state: EngineState): void {
    for (const [name, table] of this.#adapter.tables()) {
      const [count = 0] = new Int32Array((state.get(`count ${name}`) ?? new Uint8Array(BYTES_PER_WEIGHT)).slice().buffer);
      table.index(count);
    }
    this.refresh();
  }
}

function bytesOf(values: Int32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
