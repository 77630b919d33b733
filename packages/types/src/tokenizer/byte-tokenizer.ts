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
  /** Begin of text. Optional in prompts; never added by itself. */
  bos: 256,
  /** End of text: sampling always stops after it. */
  eos: 257,
  /** Padding. */
  pad: 258,
  /** End of a turn in a conversation. Ordinary for the engine; pass it in `stop` to stop there. */
  endOfTurn: 259,
} as const;

/** How special tokens are written when a caller asks to see them. */
const specialTokenNames: ReadonlyMap<number, string> = new Map([
  [byteVocabulary.bos, '<|bos|>'],
  [byteVocabulary.eos, '<|eos|>'],
  [byteVocabulary.pad, '<|pad|>'],
  [byteVocabulary.endOfTurn, '<|eot|>'],
]);

/** The tokenizer id by which a server says that its model reads bytes. */
export const BYTE_TOKENIZER_ID = 'tinkex/bytes';

/** Whether a tokenizer's or a model's id means {@link ByteTokenizer}: all models of the embedded engine are named `tinkex/…`. */
export function isByteTokenizerId(id: string): boolean {
  return id.startsWith('tinkex/');
}

/** Options of {@link ByteTokenizer.decode}. */
export interface ByteDecodeOptions {
  /** Leave special tokens out of the text. Default true; false writes them as `<|eos|>` and the like. */
  readonly skipSpecialTokens?: boolean | undefined;
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
export class ByteTokenizer {
  readonly vocabularySize = byteVocabulary.size;
  readonly bosTokenId = byteVocabulary.bos;
  readonly eosTokenId = byteVocabulary.eos;
  readonly padTokenId = byteVocabulary.pad;
  readonly endOfTurnTokenId = byteVocabulary.endOfTurn;

  /** The UTF-8 bytes of `text`. A lone surrogate becomes U+FFFD, as everywhere in UTF-8. */
  encode(text: string): number[] {
    return Array.from(new TextEncoder().encode(text));
  }

  /** The text of `tokens`. Bytes that are no UTF-8 become U+FFFD. Throws `RangeError` for an id outside the vocabulary. */
  decode(tokens: Iterable<number>, options: ByteDecodeOptions = {}): string {
    const skipSpecialTokens = options.skipSpecialTokens ?? true;
    let text = '';
    let bytes: number[] = [];
    const flush = () => {
      // ignoreBOM keeps a leading U+FEFF, which the decoder would otherwise swallow.
      text += new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
      bytes = [];
    };
    for (const token of tokens) {
      if (!Number.isInteger(token) || token < 0 || token >= byteVocabulary.size) {
        throw new RangeError(`Token ${token} is not in the byte vocabulary (0 to ${byteVocabulary.size - 1}).`);
      }
      if (token < byteVocabulary.bytes) {
        bytes.push(token);
      } else if (!skipSpecialTokens) {
        flush();
        text += specialTokenNames.get(token) ?? '';
      }
    }
    flush();
    return text;
  }
}
