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
export const specialTokenNames: ReadonlyMap<number, string> = new Map([
  [byteVocabulary.bos, '<|bos|>'],
  [byteVocabulary.eos, '<|eos|>'],
  [byteVocabulary.pad, '<|pad|>'],
  [byteVocabulary.endOfTurn, '<|eot|>'],
]);
