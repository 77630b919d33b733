const BYTES = 256;
const VOCABULARY_SIZE = 260;

/**
 * The tokenizer of the testkit's embedded engine (`tinkex/bytes`): one token per UTF-8 byte, ids 256 to 259 for begin, end, padding
 * and end of turn. Built in, because it needs no files.
 */
export class ByteTokenizer {
  readonly vocabularySize = VOCABULARY_SIZE;
  readonly bosTokenId = 256;
  readonly eosTokenId = 257;
  readonly padTokenId = 258;
  readonly endOfTurnTokenId = 259;

  /** The UTF-8 bytes of `text`; never a special token. */
  encode(text: string): number[] {
    return Array.from(new TextEncoder().encode(text));
  }

  /** The text of `tokens`; special tokens are left out. Throws `RangeError` for an id outside the vocabulary. */
  decode(tokens: Iterable<number>): string {
    const bytes: number[] = [];
    for (const token of tokens) {
      if (!Number.isInteger(token) || token < 0 || token >= VOCABULARY_SIZE) {
        throw new RangeError(`Token ${token} is not in the byte vocabulary (0 to ${VOCABULARY_SIZE - 1}).`);
      }
      if (token < BYTES) bytes.push(token);
    }
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
  }
}

/** Whether an id means the byte tokenizer: the embedded engine's own models all use it. */
export function isByteTokenizerId(id: string): boolean {
  return id.startsWith('tinkex/');
}
