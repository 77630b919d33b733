import type { RandomStream } from './random.js';

/** How a token is chosen from a distribution. */
export interface ChoiceSettings {
  /** 0 takes the most likely token. */
  readonly temperature: number;
  /** Keep only the k most likely; anything below 1 means no limit. */
  readonly topK: number;
  /** Keep the fewest most likely tokens whose probability, after temperature and top-k, reaches this share. */
  readonly topP: number;
}

/** The most likely token; the lowest id among equals. */
export function mostLikelyToken(logits: Float64Array): number {
  let best = 0;
  for (let token = 1; token < logits.length; token++) {
    if ((logits[token] as number) > (logits[best] as number)) best = token;
  }
  return best;
}

/** Token ids from most to least likely; the lower id first among equals. */
export function rankTokens(logits: Float64Array): Int32Array {
  return Int32Array.from(logits.keys()).sort((left, right) => (logits[right] as number) - (logits[left] as number) || left - right);
}

/** The probabilities that {@link chooseToken} draws from: temperature, then top-k, then top-p, then rescaled to 1. */
export function choiceProbabilities(logits: Float64Array, { temperature, topK, topP }: ChoiceSettings): Float64Array {
  const probabilities = new Float64Array(logits.length);
  if (temperature === 0) {
    probabilities[mostLikelyToken(logits)] = 1;
    return probabilities;
  }
  const max = logits[mostLikelyToken(logits)] as number;
  for (let token = 0; token < logits.length; token++) probabilities[token] = Math.exp(((logits[token] as number) - max) / temperature);
  if (topK >= 1 && topK < logits.length) keepLargest(probabilities, topK);
  if (topP < 1) keepLargest(probabilities, nucleusSize(probabilities, topP));
  const total = sum(probabilities);
  for (let token = 0; token < probabilities.length; token++) probabilities[token] = (probabilities[token] as number) / total;
  return probabilities;
}

/** Draws one token. Uses exactly one number of `random`, or none when greedy. */
export function chooseToken(logits: Float64Array, settings: ChoiceSettings, random: RandomStream): number {
  if (settings.temperature === 0) return mostLikelyToken(logits);
  const probabilities = choiceProbabilities(logits, settings);
  let left = random();
  let last = 0;
  for (let token = 0; token < probabilities.length; token++) {
    const probability = probabilities[token] as number;
    if (probability === 0) continue;
    last = token;
    left -= probability;
    if (left < 0) return token;
  }
  // Rounding may leave a sliver above the last token.
  return last;
}

/** How many of the largest weights it takes to reach `share` of their sum. */
function nucleusSize(weights: Float64Array, share: number): number {
  const ascending = weights.slice().sort();
  const enough = share * sum(weights);
  let reached = 0;
  let size = 0;
  while (size < ascending.length && reached < enough) {
    size++;
    reached += ascending[ascending.length - size] as number;
  }
  return size;
}

/** Sets all but the `count` largest weights to zero; the lower id stays among equals. */
function keepLargest(weights: Float64Array, count: number): void {
  const threshold = weights.slice().sort()[weights.length - count] as number;
  let equals = count;
  for (const weight of weights) if (weight > threshold) equals--;
  for (let token = 0; token < weights.length; token++) {
    const weight = weights[token] as number;
    if (weight > threshold || (weight === threshold && equals-- > 0)) continue;
    weights[token] = 0;
  }
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
