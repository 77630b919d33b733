import type { LossFnConfig, LossFnName } from '@tinkex/types';
import { EngineUserError } from './engine.js';

/** What a loss says about one target: its value and its derivative with respect to the target's log-probability. */
export interface TokenLoss {
  value: number;
  slope: number;
  /** The ratio left the trust region, so this target gives no gradient or a bounded one. */
  isClipped: boolean;
}

/** Writes the loss of target `index`, whose log-probability is `logprob`, into `out`. */
export type TokenLossFunction = (logprob: number, index: number, out: TokenLoss) => void;

/** The numbers that come with a datum, under the names of `lossFnInputs`, each as long as its targets. */
export type LossInputs = Readonly<Record<string, Float32Array>>;

export interface LossFunction {
  /** Required inputs besides `targetTokens`. */
  readonly inputs: readonly string[];
  readonly optionalInputs: readonly string[];
  /** Names of the configuration (as on the wire: they are data), with their defaults. */
  readonly config: Readonly<Record<string, number>>;
  /**
   * The per-target function for one datum.
   *
   * @param score - Gives the log-probability of every target, at the cost of one more forward pass.
   */
  bind(inputs: LossInputs, config: Readonly<Record<string, number>>, score: () => Float64Array): TokenLossFunction;
}

const POLICY_INPUTS = ['logprobs', 'advantages'];
const CLIP_INPUTS = ['clipLowThreshold', 'clipHighThreshold'];
const CLIP_DEFAULTS = { clip_low_threshold: 0.8, clip_high_threshold: 1.2 };

/** Losses of the service that are not computed here: one needs facts recorded while sampling, the other is a graph (`custom-loss-pass.ts`). */
type MissingLoss = 'stable_reinforce' | 'custom';

/** The loss functions of the service, by their names on the wire. */
const LOSS_FUNCTIONS: { readonly [Name in Exclude<LossFnName, MissingLoss>]: LossFunction } = {
  cross_entropy: {
    inputs: [],
    optionalInputs: ['weights'],
    config: {},
    bind({ weights }) {
      return (logprob, index, out) => {
        const weight = weights === undefined ? 1 : (weights[index] as number);
        out.value = -weight * logprob;
        out.slope = -weight;
        out.isClipped = false;
      };
    },
  },
  importance_sampling: {
    inputs: POLICY_INPUTS,
    optionalInputs: [],
    config: {},
    bind(inputs) {
      const { sampled, advantages } = policy(inputs);
      return (logprob, index, out) => {
        const gain = Math.exp(logprob - (sampled[index] as number)) * (advantages[index] as number);
        out.value = -gain;
        out.slope = -gain;
        out.isClipped = false;
      };
    },
  },
  ppo: {
    inputs: POLICY_INPUTS,
    optionalInputs: CLIP_INPUTS,
    config: CLIP_DEFAULTS,
    bind(inputs, config) {
      const { sampled, advantages } = policy(inputs);
      const clip = clipRange(inputs, config);
      return (logprob, index, out) => {
        const ratio = Math.exp(logprob - (sampled[index] as number));
        const advantage = advantages[index] as number;
        const gain = ratio * advantage;
        const clippedGain = clip(ratio, index) * advantage;
        out.isClipped = clippedGain < gain;
        out.value = -Math.min(gain, clippedGain);
        out.slope = out.isClipped ? 0 : -gain;
      };
    },
  },
  cispo: {
    inputs: POLICY_INPUTS,
    optionalInputs: CLIP_INPUTS,
    config: CLIP_DEFAULTS,
    bind(inputs, config) {
      const { sampled, advantages } = policy(inputs);
      const clip = clipRange(inputs, config);
      return (logprob, index, out) => {
        const ratio = Math.exp(logprob - (sampled[index] as number));
        // The clipped ratio is a constant for the gradient (stopgrad).
        const bounded = clip(ratio, index);
        const factor = bounded * (advantages[index] as number);
        out.value = -factor * logprob;
        out.slope = -factor;
        out.isClipped = bounded !== ratio;
      };
    },
  },
  dro: {
    inputs: POLICY_INPUTS,
    optionalInputs: [],
    config: { beta: 0.05 },
    bind(inputs, config) {
      const { sampled, advantages } = policy(inputs);
      const beta = config.beta as number;
      return (logprob, index, out) => {
        const distance = logprob - (sampled[index] as number);
        const advantage = advantages[index] as number;
        out.value = -(logprob * advantage - (beta / 2) * distance * distance);
        out.slope = -(advantage - beta * distance);
        out.isClipped = false;
      };
    },
  },
  gspo: {
    inputs: POLICY_INPUTS,
    optionalInputs: [...CLIP_INPUTS, 'sequenceRatioMask'],
    config: CLIP_DEFAULTS,
    bind: bindSequenceLoss,
  },
};

/**
 * One ratio r for the whole sequence, the geometric mean of the ratios of its masked targets; each masked target t loses
 * `-min(r · A, clip(r) · A)`. This is our formula, because that of the service is not published (docs/decisions/0311).
 */
function bindSequenceLoss(inputs: LossInputs, config: Readonly<Record<string, number>>, score: () => Float64Array): TokenLossFunction {
  const { sampled, advantages } = policy(inputs);
  const mask = inputs.sequenceRatioMask ?? new Float32Array(sampled.length).fill(1);
  const clip = clipRange(inputs, config);
  const total = mask.reduce((sum, share) => sum + share, 0);
  const distance = score().reduce((sum, logprob, index) => sum + (mask[index] as number) * (logprob - (sampled[index] as number)), 0);
  const ratio = total === 0 ? 1 : Math.exp(distance / total);
  const gains = Float64Array.from(advantages, (advantage, index) => (mask[index] as number) * advantage);
  const isClipped = (index: number) => clip(ratio, index) * (gains[index] as number) < ratio * (gains[index] as number);
  // Every masked log-probability moves the one ratio, and with it the loss of each target that is not clipped.
  let slope = 0;
  for (let index = 0; index < gains.length; index++) if (!isClipped(index)) slope -= ratio * (gains[index] as number);
  return (_logprob, index, out) => {
    out.isClipped = isClipped(index);
    out.value = -(out.isClipped ? clip(ratio, index) : ratio) * (gains[index] as number);
    out.slope = total === 0 ? 0 : (slope * (mask[index] as number)) / total;
  };
}

/** The names of the losses that {@link findLossFunction} knows. */
export const LOSS_NAMES: readonly string[] = Object.keys(LOSS_FUNCTIONS);

/** The loss called `name` on the wire. Throws {@link EngineUserError} for an unknown one. */
export function findLossFunction(name: string): LossFunction {
  if (Object.hasOwn(LOSS_FUNCTIONS, name)) return LOSS_FUNCTIONS[name as keyof typeof LOSS_FUNCTIONS];
  throw new EngineUserError(`Unknown loss function '${name}'. Known: ${LOSS_NAMES.join(', ')}.`);
}

/** Defaults completed by the caller's configuration. Throws {@link EngineUserError} for an unknown name or an invalid number. */
export function resolveLossConfig(name: string, loss: LossFunction, given: LossFnConfig = {}): Readonly<Record<string, number>> {
  const config: Record<string, number> = { ...loss.config };
  for (const [key, value] of Object.entries(given)) {
    if (!(key in loss.config)) {
      const known = Object.keys(loss.config).join(', ') || 'none';
      throw new EngineUserError(`Loss function '${name}' has no configuration '${key}' (known: ${known}).`);
    }
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw new EngineUserError(`Configuration '${key}' of '${name}' must be a finite number, got ${value}.`);
    }
    config[key] = value;
  }
  const { clip_low_threshold: low, clip_high_threshold: high, beta } = config;
  if (low !== undefined && high !== undefined && low > high) {
    throw new EngineUserError(`clip_low_threshold (${low}) must not exceed clip_high_threshold (${high}).`);
  }
  if (beta !== undefined && beta < 0) throw new EngineUserError(`beta must not be negative, got ${beta}.`);
  return config;
}

function policy(inputs: LossInputs): { sampled: Float32Array; advantages: Float32Array } {
  return { sampled: input(inputs, 'logprobs'), advantages: input(inputs, 'advantages') };
}

/** Thresholds may come per target (inputs) or once for all (configuration). */
function clipRange(inputs: LossInputs, config: Readonly<Record<string, number>>): (ratio: number, index: number) => number {
  const lows = inputs.clipLowThreshold;
  const highs = inputs.clipHighThreshold;
  const low = config.clip_low_threshold as number;
  const high = config.clip_high_threshold as number;
  return (ratio, index) => Math.min(Math.max(ratio, lows?.[index] ?? low), highs?.[index] ?? high);
}

function input(inputs: LossInputs, name: string): Float32Array {
  const values = inputs[name];
  if (values === undefined) throw new Error(`The loss was bound without its input ${name}.`);
  return values;
}
