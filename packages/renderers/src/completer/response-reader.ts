import { type StopReason, TopkLogprobs } from '@tinkex/types';
import type { Renderer, ResponseDelta, Termination } from '../core/renderer.js';
import type { Message } from '../messages/message.js';
import type { SampledPiece } from './sample-in-pieces.js';
import { cutAtStopText, type StopRules, StopTextFilter } from './stop-rules.js';

/** Why a response ended: by itself, at the limit of tokens, or with tool calls. */
export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** One sampled response. */
export interface CompletionChoice {
  readonly message: Message;
  readonly termination: Termination;
  readonly finishReason: FinishReason;
  /** The stop text of the caller that ended the response, if one did. */
  readonly stopText?: string | undefined;
  /** All sampled tokens, the stop token included. */
  readonly tokens: Int32Array;
  /** Of each token, when the sampler gives them. */
  readonly logprobs?: Float32Array | undefined;
  /** The likeliest tokens at each position, when requested. */
  readonly topkLogprobs?: TopkLogprobs | undefined;
  /** The server's names of the samples that make up the response, when it gives them: one, or one per piece. */
  readonly sequenceIds: readonly string[];
}

/** Reads one response, piece by piece. */
export class ResponseReader {
  readonly #response: ReturnType<Renderer['streamResponse']>;
  readonly #rules: StopRules;
  readonly #filter: StopTextFilter;
  readonly #pieces: SampledPiece[] = [];
  /** Of the last text: what the filter holds back belongs to it. */
  #contentIndex = 0;

  constructor(renderer: Renderer, rules: StopRules) {
    this.#response = renderer.streamResponse();
    this.#rules = rules;
    this.#filter = new StopTextFilter(rules.texts);
  }

  /** Whether a stop text of the caller has come, so that no more pieces are needed. */
  get isStopped(): boolean {
    return this.#filter.isStopped;
  }

  /** What a piece adds. */
  push(piece: SampledPiece): ResponseDelta[] {
    this.#pieces.push(piece);
    const last = piece.tokens.at(-1);
    const isCallersStop = piece.stopReason === 'stop' && last !== undefined && this.#rules.tokens.includes(last);
    return this.#filtered(this.#response.push(isCallersStop ? piece.tokens.subarray(0, -1) : piece.tokens));
  }

  /** Ends the response: what was held back, and the whole of it. */
  finish(): { readonly deltas: ResponseDelta[]; readonly choice: CompletionChoice } {
    const { deltas: last, message: complete, termination } = this.#response.finish();
    const deltas = this.#filtered(last);
    const rest = this.#filter.isStopped ? '' : this.#filter.flush();
    if (rest !== '') deltas.push({ type: 'text', text: rest, contentIndex: this.#contentIndex });
    const cut = cutAtStopText(complete, this.#rules.texts);
    const message = cut?.message ?? complete;
    const stopReason = cut === undefined ? (this.#pieces.at(-1)?.stopReason ?? 'length') : 'stop';
    return {
      deltas,
      choice: {
        message,
        termination: cut === undefined ? termination : 'stop_sequence',
        finishReason: finishReasonOf(message, stopReason),
        stopText: cut?.stopText,
        tokens: joinTokens(this.#pieces),
        logprobs: joinLogprobs(this.#pieces),
        topkLogprobs: joinTopkLogprobs(this.#pieces),
        sequenceIds: this.#pieces.flatMap(({ sequenceId }) => sequenceId ?? []),
      },
    };
  }

  #filtered(deltas: readonly ResponseDelta[]): ResponseDelta[] {
    const passed: ResponseDelta[] = [];
    const pass = (text: string): void => {
      if (text !== '') passed.push({ type: 'text', text, contentIndex: this.#contentIndex });
    };
    for (const delta of deltas) {
      if (this.#filter.isStopped) break;
      if (delta.type === 'text') {
        this.#contentIndex = delta.contentIndex;
        pass(this.#filter.push(delta.text));
      } else {
        pass(this.#filter.flush());
        passed.push(delta);
      }
    }
    return passed;
  }
}

function finishReasonOf(message: Message, stopReason: StopReason): FinishReason {
  if (stopReason === 'length') return 'length';
  return (message.toolCalls?.length ?? 0) > 0 ? 'tool_calls' : 'stop';
}

function joinTokens(pieces: readonly SampledPiece[]): Int32Array {
  return joinArrays(
    pieces.map(({ tokens }) => tokens),
    (length) => new Int32Array(length),
  );
}

function joinLogprobs(pieces: readonly SampledPiece[]): Float32Array | undefined {
  const all = pieces.flatMap(({ logprobs }) => logprobs ?? []);
  return all.length < pieces.length ? undefined : joinArrays(all, (length) => new Float32Array(length));
}

function joinArrays<T extends Int32Array | Float32Array>(arrays: readonly T[], create: (length: number) => T): T {
  const joined = create(arrays.reduce((sum, { length }) => sum + length, 0));
  let place = 0;
  for (const array of arrays) {
    joined.set(array, place);
    place += array.length;
  }
  return joined;
}

function joinTopkLogprobs(pieces: readonly SampledPiece[]): TopkLogprobs | undefined {
  if (pieces.some(({ topkLogprobs }) => topkLogprobs === undefined)) return undefined;
  return TopkLogprobs.fromList(pieces.flatMap(({ topkLogprobs }) => topkLogprobs?.toList() ?? []));
}
