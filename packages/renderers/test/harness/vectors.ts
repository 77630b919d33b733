import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message, Renderer, RendererOptions, ToolSpec, TrainOnWhat } from '../../src/index.js';
import { decodeMessage } from '../../src/messages/message-json.js';
import { getRenderer } from '../../src/registry.js';
import { tokenizerOf } from './tokenizers.js';

const FOLDER = join(import.meta.dirname, '../vectors');

export type Refusal = { readonly err: readonly [string, string] };
export type Weights = readonly number[];
export interface Tokens {
  readonly t: readonly number[];
}
export interface Example extends Tokens {
  readonly w: Weights;
}

/** One conversation of a vector file. */
export interface Case {
  readonly conv?: string;
  readonly tools?: string;
  readonly prefix?: readonly unknown[] | Refusal;
  readonly gen?: Tokens | Refusal;
  readonly sup?: (Tokens & { readonly w: Readonly<Record<string, Weights | Example | Refusal>> }) | Refusal;
  readonly variants?: readonly (Partial<Tokens> &
    Partial<Refusal> & { readonly prefill?: string; readonly role?: string; readonly effort?: number })[];
  readonly examples?: Readonly<Record<string, readonly Example[] | Refusal>>;
}

export interface ParseCase {
  readonly id: string;
  readonly in: readonly number[];
  readonly message?: unknown;
  readonly termination?: string;
  readonly failure?: readonly [string, string];
  readonly err?: readonly string[];
}

export interface StreamCase {
  readonly id: string;
  readonly in: readonly number[];
  readonly deltas: readonly (readonly [number, 'h' | 't' | 'k', string, number?])[];
  readonly final: unknown;
  readonly err?: readonly string[];
}

export interface VectorFile {
  readonly renderer: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly tokenizer: string;
  readonly props: Readonly<Record<string, unknown>>;
  readonly openai?: readonly unknown[];
  readonly cases: readonly Case[];
  readonly parse?: readonly ParseCase[];
  readonly stream?: readonly StreamCase[];
}

interface Conversations {
  readonly toolsets: Readonly<Record<string, readonly ToolSpec[]>>;
  readonly openai_inputs: readonly unknown[];
  readonly conversations: readonly { readonly id: string; readonly messages: readonly unknown[] }[];
  readonly tool_conversations: readonly {
    readonly id: string;
    readonly toolset: string | null;
    readonly system_prompt: string;
    readonly messages: readonly unknown[];
  }[];
}

export function readVectors<T>(name: string): T {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as T;
}

const ALL = readVectors<Conversations>('_conversations');

/** The files of one renderer each. */
export const RENDERER_FILES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json') && !file.startsWith('_') && file !== 'vl.json' && file !== 'optional-real.json')
  .map((file) => file.replace('.json', ''));

export const OPENAI_INPUTS = ALL.openai_inputs.map((json) => decodeMessage(json));

/** The messages of a conversation, without a prefix for its tools. */
export function conversationOf({ conv, tools }: Case): { messages: Message[]; tools: readonly ToolSpec[]; systemPrompt: string } {
  if (conv !== undefined) {
    const found = ALL.conversations.find(({ id }) => id === conv);
    return { messages: decodeMessages(found?.messages), tools: [], systemPrompt: '' };
  }
  const found = ALL.tool_conversations.find(({ id }) => id === tools);
  const toolset = found?.toolset === null ? [] : (ALL.toolsets[found?.toolset as string] as readonly ToolSpec[]);
  return { messages: decodeMessages(found?.messages), tools: toolset, systemPrompt: found?.system_prompt ?? '' };
}

export function decodeMessages(messages: readonly unknown[] | undefined): Message[] {
  if (messages === undefined) throw new Error('The conversation is missing.');
  return messages.map((json, index) => decodeMessage(json, `messages[${index}]`));
}

const OPTION_NAMES: Readonly<Record<string, keyof RendererOptions>> = {
  strip_thinking_from_history: 'stripThinkingFromHistory',
  system_role_as_user: 'systemRoleAsUser',
  current_date: 'currentDate',
};

export function rendererOf(
  { renderer, tokenizer, options }: Pick<VectorFile, 'renderer' | 'tokenizer' | 'options'>,
  more: RendererOptions = {},
): Renderer {
  const given = Object.fromEntries(Object.entries(options).map(([name, value]) => [OPTION_NAMES[name] as string, value]));
  return getRenderer(renderer, tokenizerOf(tokenizer), { ...given, ...more });
}

/** Run lengths `[weight, count, …]` of weights. */
export function runLengths(weights: ArrayLike<number>): number[] {
  const runs: number[] = [];
  for (const weight of Array.from(weights)) {
    if (runs.at(-2) === weight) runs.push((runs.pop() as number) + 1);
    else runs.push(weight, 1);
  }
  return runs;
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'err' in value;
}

/** What a call gives, or `refused`. Only errors of the SDK count as a refusal. */
export function attempt<T>(call: () => T): T | 'refused' {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('TINKEX_')) return 'refused';
    throw error;
  }
}

export type { Message, TrainOnWhat };
