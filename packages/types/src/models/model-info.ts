import { ConfigurationError } from '../errors/configuration-error.js';
import TABLE from './models.json' with { type: 'json' };

/** What a model reads. */
export type Modality = 'text' | 'image' | 'audio';

/** Trainable parameters of a LoRA adapter of rank 1, by the part of the model it adapts. */
export interface LoraParamsPerRank {
  readonly mlp: number;
  readonly attn: number;
  readonly unembed: number;
}

/** A row of the model table. */
export interface ModelInfo {
  /** The model's name, without the suffix after a colon. */
  readonly model: string;
  /** The part of the name before the slash, such as `Qwen`. */
  readonly organization: string;
  readonly version: string;
  /** Parameters as people write them: `8B`, or `30B-A3B` for a mixture of experts (30B in total, 3B active). */
  readonly size: string;
  /** False for base models, which have not been trained on conversations. */
  readonly isChat: boolean;
  readonly modalities: readonly Modality[];
  /** Names of the renderers that fit the model; the first one is recommended. */
  readonly renderers: readonly string[];
  readonly hiddenSize: number;
  /** Rows of the output matrix. A tokenizer may use fewer IDs. */
  readonly vocabularySize: number;
  readonly loraParamsPerRank: LoraParamsPerRank;
  /** Tokens, as in the published configuration, where known. A server may offer less: see `getServerCapabilities()`. */
  readonly contextLength?: number | undefined;
}

type Row = Omit<ModelInfo, 'model' | 'organization'>;

const ROWS: ReadonlyMap<string, Row> = new Map(Object.entries(TABLE as Readonly<Record<string, Row>>));
const ORGANIZATIONS: ReadonlySet<string> = new Set([...ROWS.keys()].map(organizationOf));

/** Every Inkling model, present or future, is rendered alike. */
const INKLING = 'thinkingmachines/Inkling';

/** The names of all models of the table. */
export function modelNames(): string[] {
  return [...ROWS.keys()];
}

/**
 * What is known about a model. Ignores everything from the first colon of the name on (`Qwen/Qwen3-8B:peft:65536`).
 *
 * Throws a `ConfigurationError` for a name without a slash (`TINKEX_MODEL_NAME`), an unknown organization (`TINKEX_MODEL_ORGANIZATION`) or an unknown model of a
 * known organization (`TINKEX_MODEL_UNKNOWN`).
 *
 * @example
 * ```ts
 * import { modelInfo } from '@tinkex/types/models';
 *
 * const { size, renderers, hiddenSize } = modelInfo('Qwen/Qwen3-8B');
 * console.log(size, renderers[0], hiddenSize); // 8B qwen3 4096
 * ```
 */
export function modelInfo(model: string): ModelInfo {
  const name = modelNameOf(model);
  const row = ROWS.get(name);
  if (row === undefined) throw unknownModel(name);
  return { model: name, organization: organizationOf(name), ...row };
}

/**
 * The names of the renderers that fit a model; the first one is recommended. Knows every model of the table and every Inkling model. Throws as
 * {@link modelInfo} does.
 */
export function getRecommendedRendererNames(model: string): readonly string[] {
  return modelNameOf(model).startsWith(INKLING) ? ['tml_v0'] : modelInfo(model).renderers;
}

/** The name without its suffix. */
export function modelNameOf(model: string): string {
  return model.split(':', 1)[0] as string;
}

function organizationOf(name: string): string {
  return name.split('/', 1)[0] as string;
}

function unknownModel(name: string): ConfigurationError {
  const option = 'model';
  if (!name.includes('/')) {
    const message = `"${name}" is not a model name. Write it as organization/model, such as Qwen/Qwen3-8B.`;
    return new ConfigurationError({ code: 'TINKEX_MODEL_NAME', option, message });
  }
  const organization = organizationOf(name);
  if (!ORGANIZATIONS.has(organization)) {
    const message = `The model table does not know the organization "${organization}" of "${name}". It knows ${[...ORGANIZATIONS].join(', ')}.`;
    return new ConfigurationError({ code: 'TINKEX_MODEL_ORGANIZATION', option, message });
  }
  const siblings = modelNames().filter((other) => organizationOf(other) === organization);
  const message = `The model table does not know "${name}". Models of ${organization}: ${siblings.join(', ')}.`;
  return new ConfigurationError({ code: 'TINKEX_MODEL_UNKNOWN', option, message });
}
