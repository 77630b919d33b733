import type { ModelInput } from '@tinkex/types';
import type { Renderer, SupervisedExample } from '../core/renderer.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import type { Message } from '../messages/message.js';

/** A token that one of two renderers wrote where the other wrote something else. */
export interface DifferingToken {
  readonly id: number;
  readonly text: string;
}

/** The first difference between what two renderers make of a conversation. */
export interface RendererDifference {
  /** Index of the conversation. */
  readonly conversation: number;
  /** Whether the prompts differ, or the training examples. */
  readonly of: 'prompt' | 'example';
  /** Index of the first token that differs in its ID, or for equal tokens in its weight. */
  readonly position: number;
  /** The text of the tokens right before it, which are equal. */
  readonly before: string;
  /** What the first renderer has there. Undefined: it ends there, or refuses the conversation. */
  readonly first?: DifferingToken | undefined;
  /** What the second renderer has there. */
  readonly second?: DifferingToken | undefined;
  /** Whether the complete texts are equal all the same: only their tokens, or their weights, differ. */
  readonly isSameText: boolean;
  /** Why a renderer refuses the conversation, if only one of them does. */
  readonly refusal?: string | undefined;
}

/** What {@link compareRenderers} found. */
export interface RendererComparison {
  readonly conversations: number;
  /** At most one for the prompt and one for the example of each conversation. */
  readonly differences: readonly RendererDifference[];
  /** One line per difference, to print. */
  toString(): string;
}

/** Tokens shown before a difference. */
const CONTEXT_TOKENS = 12;

interface Rendered {
  readonly tokens: Int32Array;
  readonly weights?: Float32Array | undefined;
}

/**
 * Renders conversations with two renderers, for example a built-in one and the template that a model comes with, and shows where they first differ. Compares the prompt
 * of each conversation without its last answer, and, where it ends with an answer, the training example.
 *
 * @example
 * ```ts
 * import { compareRenderers, type Message, type Renderer } from '@tinkex/renderers';
 *
 * export function check(renderer: Renderer, template: Renderer, conversations: Message[][]) {
 *   const comparison = compareRenderers(renderer, template, conversations);
 *   return comparison.differences.length === 0 ? 'equal' : String(comparison);
 * }
 * ```
 */
export function compareRenderers(first: Renderer, second: Renderer, conversations: readonly (readonly Message[])[]): RendererComparison {
  const differences = conversations.flatMap((messages, conversation) => {
    const isAnswered = messages.at(-1)?.role === 'assistant';
    const question = isAnswered ? messages.slice(0, -1) : messages;
    const found = [
      compare('prompt', conversation, first, second, (renderer) => ofInput(renderer.buildGenerationPrompt(question))),
      isAnswered
        ? compare('example', conversation, first, second, (renderer) => ofExample(renderer.buildSupervisedExample(messages)))
        : undefined,
    ];
    return found.filter((one) => one !== undefined);
  });
  return {
    conversations: conversations.length,
    differences,
    toString: () =>
      differences.length === 0 ? `No difference in ${conversations.length} conversations.` : differences.map(describe).join('\n'),
  };
}

function ofInput(input: ModelInput): Rendered {
  return { tokens: input.toInts() };
}

function ofExample({ modelInput, weights }: SupervisedExample): Rendered {
  return { tokens: modelInput.toInts(), weights };
}

function compare(
  of: RendererDifference['of'],
  conversation: number,
  first: Renderer,
  second: Renderer,
  render: (renderer: Renderer) => Rendered,
): RendererDifference | undefined {
  const [one, other] = [attempt(() => render(first)), attempt(() => render(second))];
  if (typeof one === 'string' || typeof other === 'string') {
    if (typeof one === typeof other) return undefined;
    const refusal = typeof one === 'string' ? `The first refuses it: ${one}` : `The second refuses it: ${String(other)}`;
    return { conversation, of, position: 0, before: '', isSameText: false, refusal };
  }
  const position = firstDifference(one, other);
  if (position < 0) return undefined;
  const { tokenizer } = first;
  return {
    conversation,
    of,
    position,
    before: tokenizer.decode(one.tokens.subarray(Math.max(0, position - CONTEXT_TOKENS), position)),
    first: tokenAt(one.tokens, position, tokenizer),
    second: tokenAt(other.tokens, position, second.tokenizer),
    isSameText: tokenizer.decode(one.tokens) === second.tokenizer.decode(other.tokens),
  };
}

function attempt(render: () => Rendered): Rendered | string {
  try {
    return render();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function firstDifference(one: Rendered, other: Rendered): number {
  const length = Math.max(one.tokens.length, other.tokens.length);
  for (let index = 0; index < length; index += 1) {
    if (one.tokens[index] !== other.tokens[index] || one.weights?.[index] !== other.weights?.[index]) return index;
  }
  return -1;
}

function tokenAt(tokens: Int32Array, position: number, tokenizer: RendererTokenizer): DifferingToken | undefined {
  const id = tokens[position];
  return id === undefined ? undefined : { id, text: tokenizer.decode([id]) };
}

function describe({ conversation, of, position, before, first, second, isSameText, refusal }: RendererDifference): string {
  const where = `Conversation ${conversation}, ${of}`;
  if (refusal !== undefined) return `${where}: ${refusal}`;
  const after = `${where}, token ${position}, after ${JSON.stringify(before)}`;
  if (first !== undefined && first.id === second?.id) return `${after}: ${show(first)} is trained on by one renderer only.`;
  return `${after}: ${show(first)} and ${show(second)}.${isSameText ? ' The texts are equal.' : ''}`;
}

function show(token: DifferingToken | undefined): string {
  return token === undefined ? 'the end' : `${JSON.stringify(token.text)} (${token.id})`;
}
