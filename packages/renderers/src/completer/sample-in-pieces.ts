import { encodedText, type ModelInput, type SampledSequence, type SamplingParams, type StopReason, TopkLogprobs } from '@tinkex/types';
import { type AbortSignalLike, type Sampler, throwIfAborted } from './sampler.js';

/** Tokens that were sampled together. */
export interface SampledPiece {
  readonly tokens: Int32Array;
  /** Of each token, when the sampler gives them. */
  readonly logprobs?: Float32Array | undefined;
  /** The likeliest tokens at each position, when requested. */
  readonly topkLogprobs?: TopkLogprobs | undefined;
  /** The server's name of the sample, when it gives one. */
  readonly sequenceId?: string | undefined;
  /** Set on the last piece. */
  readonly stopReason?: StopReason | undefined;
}

/** What {@link sampleInPieces} samples. */
export interface PiecesOptions {
  readonly sampler: Sampler;
  readonly prompt: ModelInput;
  readonly samplingParams: SamplingParams;
  /** How many tokens a piece has at most; the first has no more than 8, so that something is there early. Default: the whole sample is one piece. */
  readonly pieceTokens?: number | undefined;
  /** How many of the likeliest tokens to return at each position. Default: none. */
  readonly topLogprobs?: number | undefined;
  /** Turns tokens into text. Needed to find a stop text that begins in one piece and ends in another. */
  readonly decode: (tokens: Int32Array) => string;
  readonly signal?: AbortSignalLike | undefined;
}

/** How many tokens a streamed answer has in a piece, unless you choose: decision 0812 says why. */
export const DEFAULT_PIECE_TOKENS = 32;
const FIRST_PIECE_TOKENS = 8;
const MAX_BYTES_PER_CHARACTER = 4;
const MARGIN_TOKENS = 16;

/**
 * Samples one sequence piece by piece: each piece continues the prompt and all pieces before it, until the sampler stops or `maxTokens` is reached.
 *
 * The result equals that of one request where the server draws by (seed, absolute position), as the embedded engine does. Without a seed it is a sample like any
 * other. Rejects with `AbortedError` when the signal is aborted, at the latest after the piece that is being sampled.
 */
export async function* sampleInPieces(options: PiecesOptions): AsyncGenerator<SampledPiece, void, undefined> {
  const { sampler, prompt, samplingParams, pieceTokens, topLogprobs, signal } = options;
  const limit = samplingParams.maxTokens ?? Number.POSITIVE_INFINITY;
  let sampled = new Int32Array(0);
  for (;;) {
    throwIfAborted(signal);
    const wanted = Math.min(pieceLimit(pieceTokens, sampled.length === 0), limit - sampled.length);
    const input = {
      prompt: sampled.length === 0 ? prompt : prompt.append(encodedText(sampled)),
      numSamples: 1,
      samplingParams: Number.isFinite(wanted) ? { ...samplingParams, maxTokens: wanted } : samplingParams,
      ...(topLogprobs === undefined ? {} : { topkSampleLogprobs: topLogprobs }),
    };
    const { sequences } = await sampler.sample(input, signal === undefined ? {} : { signal });
    throwIfAborted(signal);
    const { tokens, stopReason, ...facts }: SampledSequence = sequences[0] ?? { tokens: new Int32Array(0), stopReason: 'length' };
    const known = sampled.length;
    sampled = concatenate(sampled, tokens);
    const end = endOfStopText(sampled, known, options);
    if (end !== undefined) {
      yield { tokens: sampled.slice(known, end), ...firstOf(facts, end - known), stopReason: 'stop' };
      return;
    }
    // Fewer tokens than wanted: the context is full.
    const isLast = stopReason === 'stop' || tokens.length < wanted || sampled.length >= limit;
    yield { tokens, ...facts, ...(isLast ? { stopReason } : {}) };
    if (isLast) return;
  }
}

function pieceLimit(pieceTokens: number | undefined, isFirst: boolean): number {
  if (pieceTokens === undefined) return Number.POSITIVE_INFINITY;
  return isFirst ? Math.min(pieceTokens, FIRST_PIECE_TOKENS) : pieceTokens;
}

/** What is known of the first tokens of a sequence. */
function firstOf({ logprobs, topkLogprobs: all, ...facts }: Omit<SampledSequence, 'tokens' | 'stopReason'>, length: number) {
  const topkLogprobs = all && TopkLogprobs.fromList(all.toList().slice(0, length));
  return { ...facts, logprobs: logprobs?.slice(0, length), topkLogprobs };
}

function concatenate(one: Int32Array, other: Int32Array): Int32Array<ArrayBuffer> {
  const all = new Int32Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}

/**
 * After how many tokens a stop text is complete, if it is. A server sees only the text of the piece it samples; a stop text that begins in an earlier piece
 * has to be found here. As on a server, the token that completes the text is the last.
 */
function endOfStopText(
  sampled: Int32Array,
  known: number,
  { samplingParams: { stop }, decode, pieceTokens }: PiecesOptions,
): number | undefined {
  if (pieceTokens === undefined || known === 0) return undefined;
  const texts = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((one) => typeof one === 'string');
  if (texts.length === 0) return undefined;
  // What came before cannot hold the beginning: a token says at least one byte. A few more, because a tokenizer may decode the first ones differently.
  const start = Math.max(0, known - MAX_BYTES_PER_CHARACTER * Math.max(...texts.map(({ length }) => length)) - MARGIN_TOKENS);
  const isStopped = (end: number): boolean => {
    const text = decode(sampled.subarray(start, end));
    return texts.some((one) => text.includes(one));
  };
  if (!isStopped(sampled.length)) return undefined;
  let end = known + 1;
  while (!isStopped(end)) end += 1;
  return end;
}
