import { getRecommendedRendererName, rendererNames } from '@tinkex/renderers';
import type { ReasoningEffort } from './gateway-model.js';

/** How the names of renderers that think more or less end, the best match first. */
const SUFFIXES: Readonly<Record<ReasoningEffort, readonly string[]>> = {
  none: ['disable_thinking', 'low_reasoning', 'low_thinking'],
  minimal: ['disable_thinking', 'low_reasoning', 'low_thinking'],
  low: ['low_reasoning', 'low_thinking'],
  medium: ['medium_reasoning', 'medium_thinking'],
  high: ['high_reasoning', 'xhigh_reasoning', 'max_reasoning'],
  xhigh: ['xhigh_reasoning', 'max_reasoning', 'high_reasoning'],
};

/** What stands for an effort, or for the lack of a system prompt, in the name of a renderer. */
const VARIANT = /_(disable_thinking|no_sysprompt|(x?high|max|medium|low)_(reasoning|thinking))$/;

/** The name of the renderer of a model for an effort: the recommended one where the family has none for it. */
export function rendererNameForEffort(model: string, effort: ReasoningEffort | undefined): string {
  const recommended = getRecommendedRendererName(model);
  if (effort === undefined) return recommended;
  const family = recommended.replace(VARIANT, '');
  const names = new Set(rendererNames());
  return SUFFIXES[effort].map((suffix) => `${family}_${suffix}`).find((name) => names.has(name)) ?? recommended;
}
