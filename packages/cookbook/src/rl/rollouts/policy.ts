import type { SamplingClient } from '@tinkex/clients';
import type { Action, Observation } from '../environments/env.js';

/** How one action is sampled. */
export interface PolicyOptions {
  /** The most tokens. Default: the policy's own. */
  readonly maxTokens?: number | undefined;
  /** Makes the action repeatable. Default: the server's choice. */
  readonly seed?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Chooses what to do at an observation. */
export type Policy = (observation: Observation, options: PolicyOptions) => Promise<Action>;

/** How a policy samples. */
export interface SamplingPolicyOptions {
  /** The most tokens of an action. */
  readonly maxTokens: number;
  /** Default 1. */
  readonly temperature?: number | undefined;
}

/** The policy of a sampler's weights. */
export function samplingPolicy(sampler: Pick<SamplingClient, 'sample'>, { maxTokens, temperature = 1 }: SamplingPolicyOptions): Policy {
  return async ({ prompt, stop }, { maxTokens: limit = maxTokens, seed, signal, timeoutMs }) => {
    const samplingParams = { maxTokens: Math.min(limit, maxTokens), temperature, stop: stop as string[], seed };
    const { sequences } = await sampler.sample({ prompt, samplingParams }, { signal, timeoutMs });
    const [sequence] = sequences;
    if (sequence === undefined) throw new Error('The sampler returned no sequence.');
    const { tokens, logprobs = new Float32Array(tokens.length), stopReason } = sequence;
    return { tokens, logprobs, stopReason };
  };
}
