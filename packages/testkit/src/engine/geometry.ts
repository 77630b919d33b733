import { byteVocabulary } from '@tinkex/types/wire';

/**
 * The shape of the embedded model. It reads a context in two sparse ways and adds them up in a narrow residual stream:
 *
 * - **attention**: one head per offset; head `i` copies the symbol that stands `i` positions back (one-hot, `offsets × symbols` inputs);
 * - **mlp**: a key-value memory; each n-gram that ends here is a key, hashed to one of `memorySlots` inputs;
 * - **unembed**: the residual stream, kept bounded by a smooth norm, times one row per token.
 *
 * Sparse inputs make a token cost a few row additions plus one `width × vocabulary` product, whatever the context's length and the rank.
 */
export const geometry = {
  vocabulary: byteVocabulary.size,
  /** What can stand in a context: tokens, the symbol before the first position, and symbols for positions without a token (images, audio). */
  symbols: 320,
  startSymbol: byteVocabulary.size,
  firstMediaSymbol: byteVocabulary.size + 1,
  offsets: 6,
  memoryOrders: [2, 3, 4, 6, 9],
  memorySlots: 4096,
  width: 16,
  /** Value of an active sparse input. Large, so that small learning rates move the function, not only the weights. */
  inputAmplitude: 16,
} as const;

/** Inputs of the attention adapter. */
export const attentionInputs = geometry.offsets * geometry.symbols;
