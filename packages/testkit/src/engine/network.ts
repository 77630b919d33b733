import type { AdapterMatrix } from './adapter.js';
import type { CheckpointFiles, EngineState } from './engine.js';
import type { EngineOptimizer, Optimizer, OptimizerState } from './optimizer.js';
import type { Gradients, TokenScorer } from './token-scorer.js';
import type { Vocabulary } from './vocabulary.js';

/** A base model with an adapter in training. There is one for each architecture; the losses, optimizers and metrics are the same for all. */
export interface Network {
  readonly vocabulary: Vocabulary;
  readonly maxContextLength: number;
  readonly scorer: TokenScorer;
  readonly gradients: Gradients;
  /** Every array of weights, in the order of the gradients. Valid until the next pass. */
  matrices(): readonly AdapterMatrix<Float32Array>[];
  createOptimizer(family: EngineOptimizer): Optimizer;
  /** To be called after the weights have changed. */
  refresh(): void;
  save(optimizer?: OptimizerState): CheckpointFiles;
  /**
   * Replaces the weights. With `family` it returns the state of that optimizer. Throws `EngineUserError` for a checkpoint that does not fit, and has
   * changed nothing then.
   */
  load(checkpoint: CheckpointFiles, family?: EngineOptimizer): OptimizerState | undefined;
  /** What must be stored in addition to weights, moments and gradients. */
  extraState(): EngineState;
  /** Makes room for a stored state, so that ours has parts of the same sizes. */
  reserve(state: EngineState): void;
  /** To be called after the parts were filled from a stored state. */
  restored(state: EngineState): void;
}
