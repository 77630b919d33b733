import { AbortedError, type ModelInput, type SampledSequence, type SamplingParams } from '@tinkex/types';

/** The runtime's `AbortSignal`. Where none is declared, as much of one as a completer needs. */
export type AbortSignalLike = typeof globalThis extends { AbortSignal: { prototype: infer Signal } } ? Signal : PlainSignal;

interface PlainSignal {
  readonly aborted: boolean;
  readonly reason?: unknown;
}

/** A request to a {@link Sampler}. */
export interface SamplerInput {
  readonly prompt: ModelInput;
  readonly numSamples: number;
  readonly samplingParams: SamplingParams;
  /** Also return the `k` likeliest tokens at each sampled position. Left out for none. */
  readonly topkSampleLogprobs?: number | undefined;
}

/** Options of one call of a {@link Sampler}. */
export interface SamplerCallOptions {
  readonly signal?: AbortSignalLike | undefined;
}

/** Anything that continues a prompt: the `SamplingClient` of `@tinkex/clients`, an engine in the same process, or a script in a test. */
export interface Sampler {
  sample(input: SamplerInput, options?: SamplerCallOptions): PromiseLike<{ readonly sequences: readonly SampledSequence[] }>;
}

/** Throws an `AbortedError` if the signal is aborted. */
export function throwIfAborted(signal: AbortSignalLike | undefined): void {
  if (signal?.aborted) throw new AbortedError({ cause: signal.reason });
}
