/*
 * The shape of the recall model. The score of a token in a context is a sum of weights, one for each thing in the context that speaks for it:
 *
 * - attn: relations that copy a token of the context ("what followed the last occurrence of this word"), whatever the token is;
 * - mlp: pairs of a key (an n-gram that ends here, the whole prefix, or the token that copying suggests) and a token that followed it in training;
 * - unembed: one weight per token that occurred.
 *
 * All other tokens share the base distribution, so that the cost of a position depends on what was learned about it and not on the vocabulary.
 */

/** The largest vocabulary of a model. Larger symbols of a context stand for images and audio. */
export const MAX_VOCABULARY = 262_144;
/** How many different symbols images and audio can become. */
export const MEDIA_SYMBOLS = 65_536;
/** What stands before the first token. */
export const START_SYMBOL = MAX_VOCABULARY + MEDIA_SYMBOLS;

/**
 * The n-grams that are read: their lengths and the value of their inputs. Long ones are rarer and say more. Short ones are shared by many questions: with
 * larger values, what is learned about one question moves the answers to the others.
 */
export const NGRAM_ORDERS: readonly number[] = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32];
const NGRAM_SCALES: readonly number[] = [1, 1, 1, 1, 2, 2, 3, 4, 6, 6, 6];
const PREFIX_SCALE = 10;
const SUGGESTION_SCALE = 6;
/** The value of the input of each memory key: the n-grams, then the whole prefix, then what the context suggests. */
export const KEY_SCALES = Float64Array.from([...NGRAM_SCALES, PREFIX_SCALE, SUGGESTION_SCALE]);
export const KEYS = KEY_SCALES.length;

/** Pairs of a key and a token that an adapter holds, for each unit of its rank. */
export const PAIRS_PER_RANK = 1 << 17;
/** The most pairs that an adapter holds, whatever its rank: about 130 MB while it is trained. */
export const MAX_PAIRS = 1 << 22;

/** How far back a token can be copied from. */
export const COPY_WINDOW = 2_048;
/** The value of the input of each relation, and of the same relation after a certain token: what comes after that is learned faster. */
export const COPY_SCALE = 4;
export const GATED_COPY_SCALE = 8;
/** Relations may depend on the last token, hashed to one of these rows. Row 0 is for all tokens. */
export const GATES = 256;

/** The value of the input of a token's own weight: which tokens occur at all is learned early. */
export const TOKEN_SCALE = 2;
/** That weight cannot move the score further than this, which is enough for a handful of tokens to outweigh the rest of the largest vocabulary. */
export const TOKEN_BOUND = 16;
