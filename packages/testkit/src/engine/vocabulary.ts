import { byteVocabulary } from '@tinkex/types/wire';

/** What the tokens of a model are. */
export interface Vocabulary {
  /** Number of token ids. */
  readonly size: number;
  /** Sampling ends after one of these, unless `stop` is an empty list. */
  readonly endTokens: readonly number[];
  /** Whether ids 0 to 255 are bytes of UTF-8 text, so that stop strings can be found in what is sampled. */
  readonly isByteLevel: boolean;
  /** The first symbol for a position of an image or of audio, and how many there are. Symbols are what a context holds. */
  readonly firstMediaSymbol: number;
  readonly mediaSymbols: number;
  /** The cure for a token outside the vocabulary. */
  readonly hint: string;
}

/** The hint of vocabularies of bytes. */
export const BYTE_HINT = 'This engine is byte-level: encode text with ByteTokenizer.';

/** The end token of a vocabulary of bytes. */
export const BYTE_END_TOKENS: readonly number[] = [byteVocabulary.eos];
