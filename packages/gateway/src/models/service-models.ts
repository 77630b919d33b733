import { getRenderer, type Renderer, type Sampler, toRendererTokenizer } from '@tinkex/renderers';
import { ConfigurationError, NotFoundError, type Tokenizer } from '@tinkex/types';
import { rendererNameForEffort } from './effort-renderer.js';
import type { GatewayModel, ModelDirectory, ReasoningEffort } from './gateway-model.js';

/** A sampler that knows its base model and tokenizer. A `SamplingClient` is one. */
export interface ServiceSampler extends Sampler {
  getBaseModel(): PromiseLike<string>;
  getTokenizer(): PromiseLike<Tokenizer>;
}

/** As much of a service as {@link serviceModels} needs. A `ServiceClient` is one. */
export interface SamplingService {
  createSamplingClient(options: {
    readonly baseModel?: string | undefined;
    readonly modelPath?: string | undefined;
  }): PromiseLike<ServiceSampler>;
  getServerCapabilities(): PromiseLike<{
    readonly supportedModels: readonly { readonly modelName?: string | undefined; readonly maxContextLength?: number | undefined }[];
  }>;
}

/** Options of {@link serviceModels}. */
export interface ServiceModelsOptions {
  /**
   * Chooses the renderer of a base model. Needed for models that are not in the model table. Default: the one that the model was trained with, or its variant for the
   * effort.
   */
  readonly renderer?: ((model: string, tokenizer: Tokenizer, effort: ReasoningEffort | undefined) => Renderer) | undefined;
  /** How many models stay open. The one that was used longest ago goes first. Default 32. */
  readonly maxModels?: number | undefined;
}

/**
 * Serves whatever a Tinker service can sample from: `Qwen/Qwen3-8B`, `tinker://…/sampler_weights/final`, or `base model;path` for weights whose base model you name.
 * Each model is opened at its first request.
 *
 * @example
 * ```ts
 * import { ServiceClient } from '@tinkex/clients';
 * import { serviceModels, startGateway } from '@tinkex/gateway';
 *
 * export async function serve(service: ServiceClient) {
 *   return await startGateway({ models: serviceModels(service) });
 * }
 * ```
 */
export function serviceModels(service: SamplingService, options: ServiceModelsOptions = {}): ModelDirectory {
  const { maxModels = 32, renderer = defaultRenderer } = options;
  if (!Number.isSafeInteger(maxModels) || maxModels < 1) {
    throw new ConfigurationError({ option: 'maxModels', message: `maxModels must be a positive whole number, got ${maxModels}.` });
  }
  const opened = new Map<string, Promise<GatewayModel | undefined>>();

  async function open(name: string): Promise<GatewayModel | undefined> {
    const { baseModel, modelPath } = readName(name);
    const { supportedModels } = await service.getServerCapabilities();
    if (modelPath === undefined && !supportedModels.some(({ modelName }) => modelName === baseModel)) return undefined;
    const sampler = await service.createSamplingClient(modelPath === undefined ? { baseModel } : { modelPath, baseModel }).then(
      (created) => created,
      (error: unknown) => {
        if (NotFoundError.isInstance(error)) return undefined;
        throw error;
      },
    );
    if (sampler === undefined) return undefined;
    const model = baseModel ?? (await sampler.getBaseModel());
    const tokenizer = await sampler.getTokenizer();
    const contextLength = supportedModels.find(({ modelName }) => modelName === model)?.maxContextLength;
    return { sampler, contextLength, renderer: (effort) => renderer(model, tokenizer, effort) };
  }

  return {
    async find(name) {
      const found = opened.get(name) ?? open(name);
      opened.delete(name);
      opened.set(name, found);
      try {
        const model = await found;
        if (model === undefined) opened.delete(name);
        // Only a model that exists takes the place of another.
        else if (opened.size > maxModels) opened.delete(oldestOf(opened));
        return model;
      } catch (error) {
        opened.delete(name);
        throw error;
      }
    },
    async list() {
      const { supportedModels } = await service.getServerCapabilities();
      const named = supportedModels.flatMap(({ modelName }) => modelName ?? []);
      return [...new Set([...named, ...opened.keys()])];
    },
  };
}

function oldestOf(opened: ReadonlyMap<string, unknown>): string {
  const [oldest] = opened.keys();
  return oldest as string;
}

/** The parts of a name: a base model, a path, or both. */
function readName(name: string): { readonly baseModel?: string | undefined; readonly modelPath?: string | undefined } {
  const [base = '', path] = name.split(';', 2);
  if (path !== undefined) return { baseModel: base, modelPath: path };
  return name.startsWith('tinker://') ? { modelPath: name } : { baseModel: name };
}

function defaultRenderer(model: string, tokenizer: Tokenizer, effort: ReasoningEffort | undefined): Renderer {
  return getRenderer(knownRendererName(model, effort), toRendererTokenizer(tokenizer));
}

function knownRendererName(model: string, effort: ReasoningEffort | undefined): string {
  try {
    return rendererNameForEffort(model, effort);
  } catch (cause) {
    if (!ConfigurationError.isInstance(cause)) throw cause;
    const remedy =
      "Pass serviceModels its chat format: { renderer: (model, tokenizer) => getRenderer('qwen3', toRendererTokenizer(tokenizer)) }.";
    throw new ConfigurationError({ code: cause.code, option: 'model', message: `${cause.message} ${remedy}`, cause });
  }
}
