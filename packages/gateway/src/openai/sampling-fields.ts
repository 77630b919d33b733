import type { SamplingParams } from '@tinkex/types';
import * as z from 'zod';

/** The settings that both of OpenAI's APIs have. */
export const SAMPLING_FIELDS = {
  max_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
} as const;

type SamplingFields = Partial<z.infer<z.ZodObject<typeof SAMPLING_FIELDS>>>;

/** How to sample, as far as the request says. */
export function samplingParamsOf({ max_tokens, temperature, top_p, top_k, seed, stop }: SamplingFields): SamplingParams {
  return {
    maxTokens: max_tokens ?? undefined,
    temperature: temperature ?? undefined,
    topP: top_p ?? undefined,
    topK: top_k ?? undefined,
    seed: seed ?? undefined,
    stop: stop ?? undefined,
  };
}
