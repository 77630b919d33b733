import type { DecodeOptions, Tokenizer } from './tokenizer.js';

/** What every runtime has and the language's own library does not declare. */
declare class TextEncoder {
  encode(text: string): Uint8Array;
}

declare class TextDecoder {
  constructor(encoding: string, options: { readonly ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}

/**
 * The vocabulary of {@link ByteTokenizer} and of the embedded engine: token ids 0–255 are the bytes of UTF-8 text, then come the special tokens.
 */
export const byteVocabulary = {
  /** Number of token ids. */
  size: 260,
  /** Ids below this are bytes. */
  bytes: 256,
  /** Start of text. Optional in prompts; never added automatically. */
  bos: 256,
  /** End of text: sampling always stops after it. */
  eos: 257,
  /** Padding. */
  pad: 258,
  /** End of a turn in a conversation. Ordinary for the engine; pass it in `stop` to stop there. */
  endOfTurn: 259,
} as const;

const SPECIAL_TOKENS: ReadonlyMap<number, string> = new Map([
  [byteVocabulary.bos, '<|bos|>'],
  [byteVocabulary.eos, '<|eos|>'],
  [byteVocabulary.pad, '<|pad|>'],
  [byteVocabulary.endOfTurn, '<|eot|>'],
]);

/** The tokenizer ID of models that read bytes. */
export const BYTE_TOKENIZER_ID = 'tinkex/bytes';

/** Whether the ID of a tokenizer or a model means {@link ByteTokenizer}: all models of the embedded engine are named `tinkex/…`. */
export function isByteTokenizerId(id: string): boolean {
  return id.startsWith('tinkex/');
}

/**
 * The tokenizer of the testkit's embedded engine, and of any byte-level model: one token per UTF-8 byte, and four special tokens. No download, no state.
 *
 * `decode(encode(text)) === text` for every well-formed string. `encode` never produces a special token, whatever the text says; append
 * `tokenizer.eosTokenId` yourself where a text should end.
 *
 * @example
 * ```ts
 * import { ByteTokenizer } from '@tinkex/types';
 *
 * const tokenizer = new ByteTokenizer();
 * const tokens = [...tokenizer.encode('naïve'), tokenizer.eosTokenId];
 * console.log(tokens.length, tokenizer.decode(tokens)); // 7 naïve
 * ```
 */
export class ByteTokenizer implements Tokenizer {
  readonly vocabularySize = byteVocabulary.size;
  readonly bosTokenId = byteVocabulary.bos;
  readonly eosTokenId = byteVocabulary.eos;
  readonly padTokenId = byteVocabulary.pad;
  readonly endOfTurnTokenId = byteVocabulary.endOfTurn;

  /** The UTF-8 bytes of `text`. A lone surrogate becomes U+FFFD, as everywhere in UTF-8. */
  encode(text: string): number[] {
    const bytes = new TextEncoder().encode(text);
    // `Array.from` takes several times as long, and tests encode whole data sets.
    const tokens = new Array<number>(bytes.length);
    for (let index = 0; index < bytes.length; index += 1) tokens[index] = bytes[index] as number;
    return tokens;
  }

  /**
   * The text of token IDs. Bytes that are not UTF-8 become U+FFFD. Special tokens are left out, or written as `<|eos|>` and the like if
   * `skipSpecialTokens` is false. Throws a `RangeError` for an ID outside the vocabulary.
   */
  decode(ids: ArrayLike<number>, { skipSpecialTokens = true }: DecodeOptions = {}): string {
    let text = '';
    let bytes: number[] = [];
    const flush = () => {
      // ignoreBOM keeps a leading U+FEFF, which the decoder would otherwise swallow.
      text += new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
      bytes = [];
    };
    for (const token of Array.from(ids)) {
      if (!Number.isInteger(token) || token < 0 || token >= byteVocabulary.size) {
        throw new RangeError(`Token ${token} is not in the byte vocabulary (0 to ${byteVocabulary.size - 1}).`);
      }
      if (token < byteVocabulary.bytes) {
        bytes.push(token);
      } else if (!skipSpecialTokens) {
        flush();
        text += SPECIAL_TOKENS.get(token) ?? '';
      }
    }
    flush();
    return text;
  }

  /** The byte of a character below U+0080, or the ID of a special token such as `<|eos|>`. */
  tokenId(text: string): number | undefined {
    for (const [id, name] of SPECIAL_TOKENS) if (name === text) return id;
    const bytes = this.encode(text);
    return bytes.length === 1 ? bytes[0] : undefined;
  }
}
