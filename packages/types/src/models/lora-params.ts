import { ConfigurationError } from '../errors/configuration-error.js';
import { modelInfo } from './model-info.js';

/** The rank of an adapter unless you choose another. */
export const DEFAULT_LORA_RANK = 32;

/** Which adapter {@link getLoraParamCount} counts. Every part is trained unless you say otherwise. */
export interface LoraParamCountOptions {
  /** Default 32. */
  readonly rank?: number | undefined;
  readonly trainMlp?: boolean | undefined;
  readonly trainAttn?: boolean | undefined;
  readonly trainUnembed?: boolean | undefined;
}

/**
 * How many parameters a LoRA adapter of a model has. Throws a `ConfigurationError` for an unknown model, and when no part is trained.
 *
 * @example
 * ```ts
 * import { getLoraParamCount } from '@tinkex/types/models';
 *
 * console.log(getLoraParamCount('Qwen/Qwen3-8B', { rank: 8 })); // 23071744
 * ```
 */
export function getLoraParamCount(
  model: string,
  { rank = DEFAULT_LORA_RANK, trainMlp = true, trainAttn = true, trainUnembed = true }: LoraParamCountOptions = {},
): number {
  if (!(trainMlp || trainAttn || trainUnembed)) {
    const message = 'A LoRA adapter needs at least one of trainMlp, trainAttn and trainUnembed.';
    throw new ConfigurationError({ option: 'trainMlp', message });
  }
  const { mlp, attn, unembed } = modelInfo(model).loraParamsPerRank;
  return rank * ((trainMlp ? mlp : 0) + (trainAttn ? attn : 0) + (trainUnembed ? unembed : 0));
}
