import { type LanguageModelV3, NoSuchModelError, type ProviderV3 } from '@ai-sdk/provider';
import type { GatewayModels, SamplingService } from '@tinkex/gateway';
import { type GenerationLimits, serviceModels, toDirectory } from '@tinkex/gateway/generation';
import { DEFAULT_PIECE_TOKENS } from '@tinkex/renderers';
import { ConfigurationError } from '@tinkex/types';
import { TinkexLanguageModel } from './language-model.js';

/** Options of {@link createTinkex}. Give either `service` or `models`. */
export interface TinkexProviderOptions {
  /** Samples from whatever the service knows: a base model, `tinker://…/sampler_weights/…`, or `base model;path`. A `ServiceClient` is one. */
  readonly service?: SamplingService | undefined;
  /** Samplers and renderers by the names you choose, or a directory such as `serviceModels(service, options)` of `@tinkex/gateway`. */
  readonly models?: GatewayModels | undefined;
  /** How many tokens an answer may have when the call does not say. Default 4096, or what the context still holds. */
  readonly defaultMaxTokens?: number | undefined;
  /** How many tokens are sampled at a time while streaming; the first time no more than 8. Fewer come sooner, and cost more requests. Default 32. */
  readonly pieceTokens?: number | undefined;
  /** How often an answer is sampled that must call a tool or fit a schema. Default 3. */
  readonly maxAttempts?: number | undefined;
}

/** A provider for the AI SDK: call it with the name of a model. */
export interface TinkexProvider extends ProviderV3 {
  (modelId: string): LanguageModelV3;
}

/**
 * Creates a provider for Vercel's AI SDK whose models are those you train. Throws a `ConfigurationError` for invalid options.
 *
 * @example
 * ```ts
 * import { createTinkex } from '@tinkex/ai-sdk';
 * import type { ServiceClient } from '@tinkex/clients';
 * import { generateText } from 'ai';
 *
 * export async function ask(service: ServiceClient, path: string, prompt: string) {
 *   const tinkex = createTinkex({ service });
 *   const { text } = await generateText({ model: tinkex(path), prompt });
 *   return text;
 * }
 * ```
 */
export function createTinkex(options: TinkexProviderOptions): TinkexProvider {
  const { service, models, defaultMaxTokens = 4096, pieceTokens = DEFAULT_PIECE_TOKENS, maxAttempts = 3 } = options;
  if ((service === undefined) === (models === undefined)) {
    throw new ConfigurationError({ option: 'service', message: 'Give createTinkex either a service or models.' });
  }
  const limits: GenerationLimits = { defaultMaxTokens, pieceTokens, maxAttempts };
  for (const [option, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new ConfigurationError({ option, message: `${option} must be a positive whole number, got ${value}.` });
  }
  const directory = toDirectory(models ?? serviceModels(service as SamplingService));
  const languageModel = (modelId: string): LanguageModelV3 => new TinkexLanguageModel(modelId, directory, limits);
  const none = (modelType: 'embeddingModel' | 'imageModel') => (modelId: string) => {
    throw new NoSuchModelError({ modelId, modelType, message: 'Tinkex has language models only.' });
  };
  return Object.assign(languageModel, {
    specificationVersion: 'v3' as const,
    languageModel,
    embeddingModel: none('embeddingModel'),
    imageModel: none('imageModel'),
  });
}
