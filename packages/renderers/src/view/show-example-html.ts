import type { SupervisedExample } from '../core/renderer.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import { type ShownToken, shownTokens, summarize } from './shown-tokens.js';

/** The style sheet for {@link showExampleHtml}. Put it into the page once. */
export const EXAMPLE_STYLE = `.tinkex-example { font-family: monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.tinkex-token { border-radius: 2px; box-shadow: inset 0 0 0 1px rgb(128 128 128 / 20%); }
.tinkex-read { opacity: 60%; }
.tinkex-trained { background: rgb(46 160 67 / 30%); }
.tinkex-partly { background: rgb(210 153 34 / 30%); }
.tinkex-away { background: rgb(248 81 73 / 30%); }
.tinkex-summary { opacity: 60%; }
`;

/**
 * An example as HTML: one `<span>` per token, with a class that says how it is trained on and a `title` with its IDs and weight. Text is escaped; there are no scripts
 * and no inline styles, so that any content security policy accepts it. {@link EXAMPLE_STYLE} has the colors.
 */
export function showExampleHtml(example: SupervisedExample, tokenizer: RendererTokenizer): string {
  const spans = shownTokens(example, tokenizer).map(spanOf).join('');
  return `<div class="tinkex-example">${spans}<div class="tinkex-summary">${summarize(example)}</div></div>`;
}

function spanOf({ ids, text, weight }: ShownToken): string {
  const title = `${ids.join(' ')}${ids.length === 0 ? '' : ', '}weight ${weight}`;
  return `<span class="tinkex-token tinkex-${kindOf(weight)}" title="${title}">${escapeHtml(text.replaceAll('\n', '↵\n'))}</span>`;
}

function kindOf(weight: number): string {
  if (weight === 0) return 'read';
  if (weight < 0) return 'away';
  return weight < 1 ? 'partly' : 'trained';
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
