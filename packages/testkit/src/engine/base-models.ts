import { BYTE_TOKENIZER_ID, isByteTokenizerId } from '@tinkex/types';
import { type ModelInfo, modelInfo, modelNames } from '@tinkex/types/models';
import { byteVocabulary } from '@tinkex/types/wire';
import { DEFAULT_BASE_MODEL, type EngineModelInfo } from './engine.js';
import { MAX_VOCABULARY, MEDIA_SYMBOLS } from './recall/geometry.js';
import { BYTE_END_TOKENS, BYTE_HINT, type Vocabulary } from './vocabulary.js';

/** A base model of the built-in engines. What is left out comes from the model table, or from the defaults of an unknown model. */
export interface BaseModelOptions {
  readonly name: string;
  /** Number of token ids, at most 262,144. Default: the model table; 262,144 for an unknown model. */
  readonly vocabularySize?: number | undefined;
  /** Where clients find the tokenizer. Default: the name of the model. `tinkex/bytes` means that tokens are bytes. */
  readonly tokenizerId?: string | undefined;
  /** In tokens, prompt and answer together. Default: the model table; 32,768 for an unknown model. */
  readonly contextLength?: number | undefined;
  /** Sampling ends after one of these token ids. Default: those of the model's family; none for an unknown model. */
  readonly endTokens?: readonly number[] | undefined;
}

/** A base model, with all that the engine must know of it. */
export interface KnownModel extends EngineModelInfo {
  readonly vocabularySize: number;
  readonly endTokens: readonly number[];
}

/** The base model that reads its whole prompt, and whose tokens are bytes. */
export const SMALL_BASE_MODEL = 'tinkex/small';
const DEFAULT_CONTEXT_LENGTH = 32_768;

/** The tokens that end a text or a turn, by the start of the model's name. The first row that fits counts. */
const END_TOKENS: readonly (readonly [start: string, tokens: readonly number[]])[] = [
  ['Qwen/Qwen3.', [248_044, 248_046]],
  ['Qwen/', [151_643, 151_645]],
  ['meta-llama/', [128_001, 128_008, 128_009]],
  ['deepseek-ai/', [1]],
  ['openai/gpt-oss', [199_999, 200_002, 200_012]],
  ['moonshotai/', [163_585, 163_586]],
  ['zai-org/', [154_820, 154_827, 154_829]],
  ['nvidia/', [2, 11]],
  ['thinkingmachines/', [199_999, 200_006]],
];

/** Models whose tokenizer is found under another name. */
const TOKENIZER_IDS: readonly (readonly [start: string, id: string])[] = [
  ['meta-llama/Llama-3', 'thinkingmachineslabinc/meta-llama-3-instruct-tokenizer'],
];

/** The names of all models that need no description: those of the embedded engine, then the model table. */
export function builtInModels(): string[] {
  return [DEFAULT_BASE_MODEL, SMALL_BASE_MODEL, ...modelNames()];
}

/** Completes the description of a base model. Throws `RangeError` for a vocabulary or a context length that is not possible. */
export function describeModel(model: string | BaseModelOptions): KnownModel {
  const given: BaseModelOptions = typeof model === 'string' ? { name: model } : model;
  const { name } = given;
  const row = rowOf(name);
  const tokenizerId = given.tokenizerId ?? (isByteTokenizerId(name) ? BYTE_TOKENIZER_ID : (byStart(TOKENIZER_IDS, name) ?? baseName(name)));
  const isByteLevel = isByteTokenizerId(tokenizerId);
  const {
    vocabularySize = isByteLevel ? byteVocabulary.size : (row?.vocabularySize ?? MAX_VOCABULARY),
    contextLength = row?.contextLength ?? DEFAULT_CONTEXT_LENGTH,
    endTokens = isByteLevel ? BYTE_END_TOKENS : (byStart(END_TOKENS, name) ?? []),
  } = given;
  requireWhole('vocabularySize', name, vocabularySize, 2, MAX_VOCABULARY);
  requireWhole('contextLength', name, contextLength, 2, 2 ** 24);
  const arch = name === DEFAULT_BASE_MODEL ? 'tinkex-sparse-ngram' : 'tinkex-recall';
  return { modelName: name, maxContextLength: contextLength, tokenizerId, arch, vocabularySize, endTokens };
}

/** What the tokens of a base model are, for the recall model. */
export function vocabularyOf({ vocabularySize, endTokens, tokenizerId }: KnownModel): Vocabulary {
  const isByteLevel = isByteTokenizerId(tokenizerId);
  return {
    size: vocabularySize,
    endTokens,
    isByteLevel,
    firstMediaSymbol: MAX_VOCABULARY,
    mediaSymbols: MEDIA_SYMBOLS,
    hint: isByteLevel ? BYTE_HINT : `Encode text with the tokenizer ${tokenizerId}.`,
  };
}

/** The row of the model table, if the name is one of it, with or without a suffix after a colon. */
function rowOf(name: string): ModelInfo | undefined {
  return modelNames().includes(baseName(name)) ? modelInfo(name) : undefined;
}

function baseName(name: string): string {
  return name.split(':', 1)[0] as string;
}

function byStart<T>(rows: readonly (readonly [string, T])[], name: string): T | undefined {
  return rows.find(([start]) => name.startsWith(start))?.[1];
}

function requireWhole(option: string, name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${option} of the base model ${name} must be a whole number from ${least} to ${most}, got ${value}.`);
}
