import type { SupervisedExample } from '../core/renderer.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import { type ShownToken, shownTokens, summarize } from './shown-tokens.js';

/** Options of {@link showExample}. */
export interface ShowExampleOptions {
  /** Whether to use terminal colors. Default true. Without them, what is trained on stands between `«` and `»`. */
  readonly color?: boolean | undefined;
}

const RESET = '\u001b[0m';
const DIM = '\u001b[2m';
const GREEN = '\u001b[32m';
const YELLOW = '\u001b[33m';
const RED = '\u001b[31m';

/**
 * An example as text for a terminal, colored by weight: green is trained on, yellow partly (a weight between 0 and 1), red is trained away from (below 0), dim is only
 * read. Line breaks are shown as `↵`. The last line counts the tokens.
 *
 * @example
 * ```ts
 * import { type Message, type Renderer, showExample } from '@tinkex/renderers';
 *
 * export function preview(renderer: Renderer, messages: Message[]) {
 *   return showExample(renderer.buildSupervisedExample(messages), renderer.tokenizer, { color: false });
 * }
 * ```
 */
export function showExample(example: SupervisedExample, tokenizer: RendererTokenizer, { color = true }: ShowExampleOptions = {}): string {
  const runs = runsOf(shownTokens(example, tokenizer)).map(({ text, weight }) => {
    // Other control characters would move the cursor or change colors.
    const visible = text.replaceAll('\n', '↵\n').replace(CONTROLS, showControl);
    if (color) return `${colorOf(weight)}${visible}${RESET}`;
    return weight === 0 ? visible : `«${visible}»`;
  });
  return `${runs.join('')}\n${summarize(example)}`;
}

const CONTROLS = /(?!\n)\p{Cc}/gu;

function showControl(control: string): string {
  return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** Neighbors of the same weight as one. */
function runsOf(tokens: readonly ShownToken[]): { text: string; weight: number }[] {
  const runs: { text: string; weight: number }[] = [];
  for (const { text, weight } of tokens) {
    const last = runs.at(-1);
    if (last?.weight === weight) last.text += text;
    else runs.push({ text, weight });
  }
  return runs;
}

function colorOf(weight: number): string {
  if (weight === 0) return DIM;
  if (weight < 0) return RED;
  return weight < 1 ? YELLOW : GREEN;
}
