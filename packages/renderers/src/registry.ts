import { ConfigurationError, isByteTokenizerId } from '@tinkex/types';
import { getRecommendedRendererNames } from '@tinkex/types/models';
import { GrammarRenderer } from './core/grammar-renderer.js';
import type { Renderer } from './core/renderer.js';
import type { RendererTokenizer } from './core/tokenizer.js';
import { BUILT_IN } from './families/built-in.js';
import type { RendererOptions } from './families/family.js';

/** Creates your own renderer. */
export type RendererFactory = (tokenizer: RendererTokenizer, options: RendererOptions) => Renderer;

const CUSTOM = new Map<string, RendererFactory>();

/**
 * The renderer with a name. Throws a `ConfigurationError` for an unknown name, an option that this renderer does not take, or a tokenizer without the
 * special tokens of the template.
 *
 * @example
 * const renderer = getRenderer('qwen3_disable_thinking', tokenizer);
 */
export function getRenderer(name: string, tokenizer: RendererTokenizer, options: RendererOptions = {}): Renderer {
  const custom = CUSTOM.get(name);
  if (custom !== undefined) return custom(tokenizer, options);
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn === undefined) {
    throw new ConfigurationError({
      option: 'name',
      message: `There is no renderer "${name}". Use one of ${rendererNames().join(', ')}, or add it with registerRenderer.`,
    });
  }
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || (builtIn.options as readonly string[]).includes(option)) continue;
    const known = builtIn.options.length === 0 ? 'no options' : builtIn.options.join(', ');
    throw new ConfigurationError({ option, message: `Renderer "${name}" does not take the option ${option}; it takes ${known}.` });
  }
  return new GrammarRenderer(name, tokenizer, builtIn.family({ tokenizer, options }));
}

/** Adds a renderer under a name. It takes precedence over a built-in one. Returns a function that removes it again. */
export function registerRenderer(name: string, factory: RendererFactory): () => void {
  CUSTOM.set(name, factory);
  return () => {
    if (CUSTOM.get(name) === factory) CUSTOM.delete(name);
  };
}

/** The names of all renderers, those you registered first. */
export function rendererNames(): string[] {
  return [...new Set([...CUSTOM.keys(), ...Object.keys(BUILT_IN)])];
}

/** The renderer of the embedded engine's models, which read bytes and have no template. */
const BYTE_RENDERER = 'role_colon';

/** The name of the renderer a model was trained with. Throws a `ConfigurationError` for a model that is not in the table. */
export function getRecommendedRendererName(model: string): string {
  if (isByteTokenizerId(model)) return BYTE_RENDERER;
  const [name] = getRecommendedRendererNames(model);
  return name as string;
}

/**
 * The renderer a model was trained with.
 *
 * @example
 * const renderer = rendererForModel('Qwen/Qwen3-8B', tokenizer);
 */
export function rendererForModel(model: string, tokenizer: RendererTokenizer, options?: RendererOptions): Renderer {
  return getRenderer(getRecommendedRendererName(model), tokenizer, options);
}
