import { ConfigurationError } from '@tinkex/types';
import { BpeTokenizer, type ByteLevelTokenizer } from './bpe-tokenizer.js';
import { BYTE_CHARACTERS } from './byte-alphabet.js';
import { MergeTable } from './merge-table.js';
import { compileSplitPattern } from './split-pattern.js';
import type { TokenizerConfig } from './tokenizer-config.js';

/** What every runtime has and the language's own library does not declare. */
declare function atob(base64: string): string;

/** How Kimi K2 and its successors split text. */
export const KIMI_SPLIT_PATTERN = [
  '[\\p{Han}]+',
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
  '\\p{N}{1,3}',
  ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*',
  '\\s*[\\r\\n]+',
  '\\s+(?!\\S)',
  '\\s+',
].join('|');

/** Options of {@link tiktokenTokenizer}. */
export interface TiktokenOptions {
  /** The text of a ranks file (`tiktoken.model`): on each line a token in base64 and its rank, which is also its ID. */
  readonly ranks: string;
  /** How text is split. Default {@link KIMI_SPLIT_PATTERN}. */
  readonly pattern?: string | undefined;
  /** The parsed `tokenizer_config.json`: the added tokens by ID, and which of them begin and end a text. */
  readonly config?: TokenizerConfig | undefined;
}

/**
 * A tokenizer from a ranks file, for models such as Kimi that come without a `tokenizer.json`. Throws a `ConfigurationError` for a ranks file that is damaged.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { tiktokenTokenizer } from '@tinkex/renderers';
 *
 * export async function loadKimiTokenizer(directory: string) {
 *   const [ranks, config] = await Promise.all(['tiktoken.model', 'tokenizer_config.json'].map((file) => readFile(`${directory}/${file}`, 'utf8')));
 *   return tiktokenTokenizer({ ranks: ranks ?? '', config: JSON.parse(config ?? '{}') });
 * }
 * ```
 */
export function tiktokenTokenizer({ ranks, pattern = KIMI_SPLIT_PATTERN, config = {} }: TiktokenOptions): ByteLevelTokenizer {
  const idOfToken = readRanks(ranks);
  return new BpeTokenizer({
    idOfToken,
    merges: mergesOf(idOfToken),
    // The rank of a token is its ID.
    mergedIds: Int32Array.from({ length: 1 + highest(idOfToken.values()) }, (_, id) => id),
    prefersWholePieces: true,
    addedTokens: Object.entries(config.added_tokens_decoder ?? {}).map(([id, { content, special = false }]) => ({
      id: Number(id),
      content,
      isSpecial: special,
      isNormalized: false,
    })),
    normalizesToNfc: false,
    splitSteps: [{ pattern: compileSplitPattern(pattern), keepsGaps: false }],
    config,
  });
}

function readRanks(ranks: string): Map<string, number> {
  const idOfToken = new Map<string, number>();
  ranks.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const [base64 = '', rank = ''] = line.trim().split(' ');
    const id = Number(rank);
    if (rank === '' || !Number.isSafeInteger(id)) throw damaged(`Line ${index + 1} is not a token and its rank.`);
    idOfToken.set(tokenOf(base64), id);
  });
  if (!BYTE_CHARACTERS.every((character) => idOfToken.has(character))) throw damaged('Some bytes have no token.');
  return idOfToken;
}

function tokenOf(base64: string): string {
  let token = '';
  for (const byte of atob(base64)) token += BYTE_CHARACTERS[byte.charCodeAt(0)];
  return token;
}

/** A ranks file has no list of merges: any two neighbors that form a token may merge. */
function mergesOf(idOfToken: ReadonlyMap<string, number>): MergeTable {
  const pairs: number[] = [];
  for (const [token, id] of idOfToken) {
    for (let cut = 1; cut < token.length; cut += 1) {
      const left = idOfToken.get(token.slice(0, cut));
      const right = left === undefined ? undefined : idOfToken.get(token.slice(cut));
      if (left !== undefined && right !== undefined) pairs.push(left, right, id);
    }
  }
  const merges = new MergeTable(pairs.length / 3);
  for (let index = 0; index < pairs.length; index += 3) {
    merges.add(pairs[index] as number, pairs[index + 1] as number, pairs[index + 2] as number);
  }
  return merges;
}

function highest(ids: Iterable<number>): number {
  let most = -1;
  for (const id of ids) if (id > most) most = id;
  return most;
}

function damaged(what: string): ConfigurationError {
  return new ConfigurationError({ option: 'ranks', message: `The ranks file cannot be read. ${what}` });
}
