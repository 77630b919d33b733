import type { Datum, TensorData } from '@tinkex/types';

/** What turns tokens into text. */
interface Decoder {
  decode(tokens: ArrayLike<number>): string;
}

/** Options of {@link colorizeTokens} and {@link colorizeDatum}. */
export interface ColorizeOptions {
  /** Whether line breaks are shown as `↵`. Default false. */
  readonly arrows?: boolean | undefined;
}

const RESET = '\u001b[0m';
const RED = '\u001b[31m';
const GREEN = '\u001b[32m';
const YELLOW = '\u001b[33m';

/**
 * Tokens as text for a terminal, colored by their weights or advantages: green above 0, yellow at 0, red below. It shows a wrong mask at a glance.
 *
 * @throws RangeError when there are not as many weights as tokens.
 */
export function colorizeTokens(
  tokens: readonly number[],
  weights: readonly number[],
  tokenizer: Decoder,
  { arrows = false }: ColorizeOptions = {},
): string {
  if (tokens.length !== weights.length) throw new RangeError(`There are ${tokens.length} tokens, but ${weights.length} weights.`);
  let text = '';
  for (let begin = 0; begin < tokens.length; ) {
    const color = colorOf(weights[begin] as number);
    let end = begin + 1;
    while (end < tokens.length && colorOf(weights[end] as number) === color) end++;
    // A line break ends the color, so that no line of a terminal begins with the color of the one before.
    const lines = decodeWithImages(tokens.slice(begin, end), tokenizer).split(/(?<=\n)/);
    for (const line of lines) text += `${color}${arrows ? line.replace('\n', '↵\n') : line}${RESET}`;
    begin = end;
  }
  return text;
}

/**
 * A training example as text for a terminal, colored by what its tokens are trained with. Positions of images are shown as `@`.
 *
 * @param name - The loss input that colors: `weights` by default, `advantages` for reinforcement learning.
 */
export function colorizeDatum(
  { modelInput, lossFnInputs }: Datum,
  tokenizer: Decoder,
  { name = 'weights', ...options }: ColorizeOptions & { readonly name?: string | undefined } = {},
): string {
  const inputs: Readonly<Record<string, TensorData | undefined>> = lossFnInputs;
  const targets = inputs['targetTokens']?.toNumbers() ?? [];
  const tokens = modelInput.chunks.flatMap((chunk) => ('tokens' in chunk ? Array.from(chunk.tokens) : imagePositions(chunk)));
  const values = inputs[name]?.toNumbers() ?? [];
  // Weights belong to targets: the first token is never one.
  return colorizeTokens([...tokens, ...targets.slice(-1)], [0, ...values], tokenizer, options);
}

/** Stands for a position of an image. */
const IMAGE = -1;

function imagePositions(chunk: object): number[] {
  const { expectedTokens = 0 } = chunk as { readonly expectedTokens?: number | undefined };
  return Array.from({ length: expectedTokens }, () => IMAGE);
}

function decodeWithImages(tokens: readonly number[], tokenizer: Decoder): string {
  let [text, run] = ['', [] as number[]];
  const flush = (): void => {
    if (run.length > 0) text += tokenizer.decode(run);
    run = [];
  };
  for (const token of tokens) {
    if (token !== IMAGE) run.push(token);
    else {
      flush();
      text += '@';
    }
  }
  flush();
  return text;
}

function colorOf(weight: number): string {
  if (weight === 0) return YELLOW;
  return weight > 0 ? GREEN : RED;
}
