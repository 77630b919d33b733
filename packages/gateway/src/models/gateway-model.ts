import type { Renderer, Sampler } from '@tinkex/renderers';
import type { SamplingParams } from '@tinkex/types';

/** How hard a model thinks, from not at all to as hard as it can. */
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';

/** A model that the gateway serves. */
export interface GatewayModel {
  readonly sampler: Sampler;
  /** Turns messages into tokens. A function chooses by the effort that a request asks for; it gets undefined when the request asks for none. */
  readonly renderer: Renderer | ((effort: ReasoningEffort | undefined) => Renderer);
  /** How many tokens prompt and answer may have together. Default: only the sampler refuses. */
  readonly contextLength?: number | undefined;
  /** Used where a request says nothing. */
  readonly samplingParams?: SamplingParams | undefined;
}

/** Finds models by the name that a request gives. */
export interface ModelDirectory {
  /** The model, or undefined if there is none of that name. */
  find(name: string): GatewayModel | undefined | Promise<GatewayModel | undefined>;
  /** The names to list. A directory may know more than it lists. */
  list(): readonly string[] | Promise<readonly string[]>;
}

/** Models by name, or a directory that finds them. */
export type GatewayModels = Readonly<Record<string, GatewayModel>> | ModelDirectory;

/** A directory of either form. */
export function toDirectory(models: GatewayModels): ModelDirectory {
  if (isDirectory(models)) return models;
  const table = new Map(Object.entries(models));
  return { find: (name) => table.get(name), list: () => [...table.keys()] };
}

function isDirectory(models: GatewayModels): models is ModelDirectory {
  return typeof models['find'] === 'function' && typeof models['list'] === 'function';
}

/** The renderer of a model for an effort. */
export function rendererOf({ renderer }: GatewayModel, effort: ReasoningEffort | undefined): Renderer {
  return typeof renderer === 'function' ? renderer(effort) : renderer;
}
