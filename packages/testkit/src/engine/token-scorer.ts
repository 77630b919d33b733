import type { AdapterMatrix } from './adapter.js';
import type { RandomStream } from './random.js';
import type { ChoiceSettings } from './token-choice.js';

/** A language model as training and sampling see it: one position at a time. The results of a pass hold until the next one. */
export interface TokenScorer {
  readonly vocabularySize: number;
  /** Computes the distribution of the token that follows `context[position]`. Symbols after `position` are not read. */
  forward(context: Int32Array, position: number): void;
  /** The log-probability of `token` under the last pass. */
  logprob(token: number): number;
  /** The same after the temperature: what tokens are drawn from. At 0 it is that of the model. */
  logprobAt(token: number, temperature: number): number;
  /** Draws a token. */
  draw(settings: ChoiceSettings, random: RandomStream): number;
  /** The `count` most likely tokens, or the whole vocabulary if that is smaller; the lower id first among equals. */
  mostLikely(count: number): Int32Array;
}

/** The accumulated gradients of a model's weights. */
export interface Gradients {
  /** Creates the weights that a pass trains, in models whose weights are created as needed. */
  prepare?(input: PreparedInput): void;
  /**
   * Backpropagates through the model's last forward pass, for a loss whose derivative with respect to the log-probability of `targets[i]`
   * is `slopes[i]`, for each i from `start` to `end` (exclusive).
   */
  add(targets: Int32Array, slopes: Float64Array, start: number, end: number): void;
  /** The gradients of every array of weights, in a fixed order. Valid until the next call of a method. */
  matrices(): readonly AdapterMatrix<Float64Array>[];
  /** The sums themselves, by name. They are what a restart must bring back. */
  sums(): AdapterMatrix<Float64Array>[];
  /** Sets every gradient to zero. */
  clear(): void;
}

/** What a pass is going to train. */
export interface PreparedInput {
  readonly context: Int32Array;
  readonly targets: Int32Array;
  readonly targetsPerPosition: number;
  /** Above zero if the loss makes target `index` more likely, below zero if less; zero if it does not depend on it. */
  readonly factorOf: (index: number) => number;
}
