import { byteVocabulary } from '@tinkex/types/wire';

/*
 * The shape of the embedded model. It reads a context in two sparse ways and adds them up in a narrow residual stream:
 *
 * - attention: one head per offset; head `i` copies the symbol `i` positions back (one-hot, `OFFSETS × SYMBOLS` inputs);
 * - mlp: a key-value memory; each n-gram that ends here is a key, hashed to one of `MEMORY_SLOTS` inputs;
 * - unembed: the residual stream, kept bounded by a smooth norm, times one row per token.
 *
 * Sparse inputs make a token cost a few row additions plus one `WIDTH × VOCABULARY` product, whatever the context's length and the rank.
 */

export const VOCABULARY = byteVocabulary.size;
/** What a context can hold: tokens, the symbol before the first position, and symbols for positions without a token (images, audio). */
export const SYMBOLS = 320;
export const START_SYMBOL = byteVocabulary.size;
export const FIRST_MEDIA_SYMBOL = VOCABULARY + 1;
export const OFFSETS = 6;
export const MEMORY_ORDERS = [2, 3, 4, 6, 9] as const;
export const MEMORY_SLOTS = 4096;
export const WIDTH = 16;
/** The value of an active sparse input. Large, so that small learning rates move the function and not only the weights. */
export const INPUT_AMPLITUDE = 16;
/** Inputs of the attention adapter. */
export const ATTENTION_INPUTS = OFFSETS * SYMBOLS;
