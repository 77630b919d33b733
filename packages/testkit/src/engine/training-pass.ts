import type { TokenLoss, TokenLossFunction } from './losses.js';
import type { Gradients, TokenScorer } from './token-scorer.js';

/** What a pass needs of an example. */
export interface PassInput {
  readonly context: Int32Array;
  /** `context.length × targetsPerPosition` token ids. */
  readonly targets: Int32Array;
  readonly targetsPerPosition: number;
}

/** What a pass found, one entry per target. */
export interface PassResult {
  readonly logprobs: Float32Array;
  readonly elementwiseLoss: Float32Array;
  /** Sum over the targets, in full precision. */
  readonly loss: number;
  readonly clippedTargets: number;
}

/** Scores every target of an example; with `gradients`, adds the derivative of the summed loss to them. */
export function trainingPass(model: TokenScorer, input: PassInput, tokenLoss: TokenLossFunction, gradients?: Gradients): PassResult {
  const { context, targets, targetsPerPosition } = input;
  const logprobs = new Float32Array(targets.length);
  const elementwiseLoss = new Float32Array(targets.length);
  const slopes = new Float64Array(targets.length);
  const out: TokenLoss = { value: 0, slope: 0, isClipped: false };
  let loss = 0;
  let clippedTargets = 0;
  for (let position = 0; position < context.length; position++) {
    model.forward(context, position);
    const start = position * targetsPerPosition;
    const end = start + targetsPerPosition;
    for (let index = start; index < end; index++) {
      const logprob = model.logprob(targets[index] as number);
      tokenLoss(logprob, index, out);
      logprobs[index] = logprob;
      elementwiseLoss[index] = out.value;
      slopes[index] = out.slope;
      loss += out.value;
      if (out.isClipped) clippedTargets++;
    }
    gradients?.add(targets, slopes, start, end);
  }
  return { logprobs, elementwiseLoss, loss, clippedTargets };
}

/** The log-probability of every target, in full precision: for losses that depend on all of them. */
export function scoreTargets(model: TokenScorer, { context, targets, targetsPerPosition }: PassInput): Float64Array {
  const logprobs = new Float64Array(targets.length);
  for (let position = 0; position < context.length; position++) {
    model.forward(context, position);
    const end = (position + 1) * targetsPerPosition;
    for (let index = position * targetsPerPosition; index < end; index++) logprobs[index] = model.logprob(targets[index] as number);
  }
  return logprobs;
}
