import { ConfigurationError } from '@tinkex/types';
import type { AddedToken } from './added-token-finder.js';
import { BpeTokenizer, type BpeTokenizerParts, type ByteLevelTokenizer } from './bpe-tokenizer.js';
import { BYTE_CHARACTERS } from './byte-alphabet.js';
import { MergeTable } from './merge-table.js';
import { compileSplitPattern } from './split-pattern.js';
import type { SplitStep } from './text-splitter.js';
import type { TokenizerConfig } from './tokenizer-config.js';

/** The contents of a `tokenizer.json`, as far as byte-level encoding reads them. */
export interface TokenizerJson {
  readonly added_tokens?: readonly TokenizerJsonAddedToken[] | undefined;
  readonly normalizer?: TokenizerJsonStep | null | undefined;
  readonly pre_tokenizer?: TokenizerJsonStep | null | undefined;
  readonly decoder?: TokenizerJsonStep | null | undefined;
  readonly model: TokenizerJsonModel;
}

/** An added token in a `tokenizer.json`. */
export interface TokenizerJsonAddedToken {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean | undefined;
  readonly normalized?: boolean | undefined;
  readonly lstrip?: boolean | undefined;
  readonly rstrip?: boolean | undefined;
  readonly single_word?: boolean | undefined;
}

/** A normalizer, pre-tokenizer or decoder in a `tokenizer.json`. */
export interface TokenizerJsonStep {
  readonly type: string;
  readonly normalizers?: readonly TokenizerJsonStep[] | undefined;
  readonly pretokenizers?: readonly TokenizerJsonStep[] | undefined;
  readonly pattern?: { readonly Regex?: string | undefined; readonly String?: string | undefined } | undefined;
  readonly behavior?: string | undefined;
  readonly invert?: boolean | undefined;
  readonly add_prefix_space?: boolean | undefined;
  readonly use_regex?: boolean | undefined;
}

/** The vocabulary and its merges in a `tokenizer.json`. */
export interface TokenizerJsonModel {
  readonly type?: string | undefined;
  readonly vocab: Readonly<Record<string, number>>;
  readonly merges: readonly (string | readonly string[])[];
  readonly ignore_merges?: boolean | undefined;
  readonly byte_fallback?: boolean | undefined;
  readonly dropout?: number | null | undefined;
  readonly continuing_subword_prefix?: string | null | undefined;
  readonly end_of_word_suffix?: string | null | undefined;
}

/** What `ByteLevel` splits by unless another step did. */
const GPT2_PATTERN = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * A tokenizer from the files of a model, if it is byte-level byte pair encoding: Llama 3, Qwen, DeepSeek, GLM, Nemotron, gpt-oss and most others. Pure JavaScript; equal to
 * Hugging Face's `tokenizers` token for token. Building it takes some tenths of a second, so keep it.
 *
 * Throws a `ConfigurationError` with the code `TINKEX_TOKENIZER_UNSUPPORTED` for any other tokenizer; {@link huggingFaceTokenizer} takes those too.
 *
 * @param tokenizerJson - The parsed `tokenizer.json`.
 * @param config - The parsed `tokenizer_config.json`: names the tokens that begin and end a text.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { bpeTokenizer, type TokenizerJson } from '@tinkex/renderers';
 *
 * export async function loadTokenizer(directory: string) {
 *   return bpeTokenizer(JSON.parse(await readFile(`${directory}/tokenizer.json`, 'utf8')) as TokenizerJson);
 * }
 * ```
 */
export function bpeTokenizer(tokenizerJson: TokenizerJson, config: TokenizerConfig = {}): ByteLevelTokenizer {
  return new BpeTokenizer({ ...readTokenizerJson(tokenizerJson), config });
}

/** The parts of a byte-level tokenizer. Throws a `ConfigurationError` with the code `TINKEX_TOKENIZER_UNSUPPORTED` for any other tokenizer. */
function readTokenizerJson(json: TokenizerJson): Omit<BpeTokenizerParts, 'config'> {
  const { model, added_tokens: addedTokens = [] } = json;
  const normalizesToNfc = readNormalizer(json.normalizer);
  if (json.decoder?.type !== 'ByteLevel') throw unsupported(`the decoder ${json.decoder?.type ?? 'null'}`);
  return {
    addedTokens: addedTokens.map(readAddedToken),
    normalizesToNfc,
    splitSteps: readPreTokenizer(json.pre_tokenizer),
    ...readModel(model),
  };
}

function readAddedToken({ id, content, special, normalized, lstrip, rstrip, single_word: isWord }: TokenizerJsonAddedToken): AddedToken {
  if (lstrip || rstrip || isWord) throw unsupported(`the added token ${content}, which strips spaces or matches whole words only`);
  return { id, content, isSpecial: special ?? false, isNormalized: normalized ?? false };
}

function readNormalizer(normalizer: TokenizerJsonStep | null | undefined): boolean {
  if (normalizer === null || normalizer === undefined) return false;
  if (normalizer.type === 'NFC') return true;
  if (normalizer.type === 'Sequence') return (normalizer.normalizers ?? []).map(readNormalizer).includes(true);
  throw unsupported(`the normalizer ${normalizer.type}`);
}

function readPreTokenizer(step: TokenizerJsonStep | null | undefined): SplitStep[] {
  const steps = step?.type === 'Sequence' ? (step.pretokenizers ?? []) : step ? [step] : [];
  if (steps.at(-1)?.type !== 'ByteLevel') throw unsupported('a pre-tokenizer that does not end with ByteLevel');
  return steps.flatMap(readSplitStep);
}

function readSplitStep({
  type,
  pattern,
  behavior,
  invert = false,
  add_prefix_space: addsSpace,
  use_regex: usesRegex,
}: TokenizerJsonStep): SplitStep[] {
  if (type === 'ByteLevel' && !addsSpace)
    return usesRegex === false ? [] : [{ pattern: compileSplitPattern(GPT2_PATTERN), keepsGaps: true }];
  if (type === 'Split' && pattern?.Regex !== undefined) {
    if (behavior === 'Isolated') return [{ pattern: compileSplitPattern(pattern.Regex), keepsGaps: true }];
    if (behavior === 'Removed' && invert) return [{ pattern: compileSplitPattern(pattern.Regex), keepsGaps: false }];
  }
  throw unsupported(`the pre-tokenizer ${type}${behavior === undefined ? '' : ` (${behavior})`}`);
}

function readModel(model: TokenizerJsonModel): Pick<BpeTokenizerParts, 'idOfToken' | 'merges' | 'mergedIds' | 'prefersWholePieces'> {
  if (model.type !== undefined && model.type !== 'BPE') throw unsupported(`the model ${model.type}`);
  if (model.byte_fallback || model.dropout || model.continuing_subword_prefix || model.end_of_word_suffix) {
    throw unsupported('byte fallback, dropout, prefixes or suffixes');
  }
  const idOfToken = new Map(Object.entries(model.vocab));
  if (!BYTE_CHARACTERS.every((character) => idOfToken.has(character))) throw unsupported('a vocabulary without a token for every byte');
  const merges = new MergeTable(model.merges.length);
  const mergedIds = new Int32Array(model.merges.length);
  model.merges.forEach((merge, rank) => {
    const [left = '', right = ''] = typeof merge === 'string' ? merge.split(' ') : merge;
    const [leftId, rightId, mergedId] = [idOfToken.get(left), idOfToken.get(right), idOfToken.get(left + right)];
    if (leftId === undefined || rightId === undefined || mergedId === undefined)
      throw unsupported(`the merge ${left} ${right}, which is not in the vocabulary`);
    merges.add(leftId, rightId, rank);
    mergedIds[rank] = mergedId;
  });
  return { idOfToken, merges, mergedIds, prefersWholePieces: model.ignore_merges ?? false };
}

function unsupported(what: string): ConfigurationError {
  const message = `This tokenizer has ${what}, which byte-level encoding does not know. Pass a Tokenizer of @huggingface/tokenizers to huggingFaceTokenizer.`;
  return new ConfigurationError({ code: 'TINKEX_TOKENIZER_UNSUPPORTED', message });
}
