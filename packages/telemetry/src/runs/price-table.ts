import { ConfigurationError } from '@tinkex/types';

/** Tokens that a call is billed for. */
export interface Usage {
  readonly trainTokens?: number | undefined;
  readonly prefillTokens?: number | undefined;
  readonly sampledTokens?: number | undefined;
}

/** What a model costs, in US dollars per million tokens. You supply it; there is no built-in table, because prices change. */
export interface PriceTable {
  /** Forward and backward passes. */
  readonly train: number;
  /** Prompts of samples and computed logprobs. Needed when the run samples. */
  readonly prefill?: number | undefined;
  /** Sampled tokens. Needed when the run samples. */
  readonly sample?: number | undefined;
}

const MILLION = 1_000_000;

/** The price of a usage in US dollars. Throws a `ConfigurationError` if the table has no price for a part of it. */
export function costOf(usage: Usage, prices: PriceTable): number {
  const parts = [
    ['train', usage.trainTokens],
    ['prefill', usage.prefillTokens],
    ['sample', usage.sampledTokens],
  ] as const;
  let cost = 0;
  for (const [kind, tokens = 0] of parts) {
    if (tokens === 0) continue;
    const price = prices[kind];
    if (price === undefined || !(price >= 0)) {
      throw new ConfigurationError({
        option: `prices.${kind}`,
        message: `prices.${kind} is missing or negative. Give it in US dollars per million tokens.`,
      });
    }
    cost += (tokens * price) / MILLION;
  }
  return cost;
}
