import { setMaxListeners } from 'node:events';
import { type ApiStatusError, TinkexError } from '@tinkex/types';
import { onAbort } from '../runtime/on-abort.js';
import type { Turn } from './turn-queue.js';

/** Sends the chunk at an index and gives back the server's promise id. */
export type SubmitChunk = (index: number, signal: AbortSignal) => Promise<string>;

export interface ChunkSubmission {
  readonly turn: Turn;
  /** As the server says: all but the first at once and the first last, or strictly one after the other. */
  readonly isParallel: boolean;
  readonly signal: AbortSignal;
  readonly submit: SubmitChunk;
}

/**
 * Sends the chunks of one call within its turn. The server cannot start before it has the first chunk, so that one goes last:
 * by then the whole batch is queued.
 *
 * If a chunk is refused the call fails: the chunks still on their way are given up, those not sent yet are never sent, and
 * the turn ends, so that the operations called later go on.
 *
 * @returns The promise ids in data order.
 */
export async function submitChunks({ turn, isParallel, signal, submit }: ChunkSubmission): Promise<string[]> {
  const count = turn.seqIds.length;
  const requestIds: (string | undefined)[] = new Array(count).fill(undefined);
  const group = new ChunkGroup(signal, count);
  const send = async (index: number): Promise<void> => {
    try {
      requestIds[index] = await submit(index, group.signal);
    } catch (error) {
      group.fail(error, index);
      throw error;
    }
  };
  try {
    await turn.start(signal);
    if (isParallel && count > 1) {
      await Promise.allSettled(Array.from({ length: count - 1 }, (_, index) => send(index + 1)));
      group.throwIfFailed();
      await send(0);
    } else {
      for (let index = 0; index < count; index += 1) await send(index);
    }
    return requestIds as string[];
  } catch (error) {
    throw explainRefusal(group.failure?.error ?? error, group.failure?.index, turn.seqIds, requestIds);
  } finally {
    group.end();
    turn.end();
  }
}

/** The chunks of one call share one fate: the first failure gives up the others. */
class ChunkGroup {
  /** Only for several chunks: one chunk has nobody to give up. */
  readonly #controller: AbortController | undefined;
  readonly #outer: AbortSignal;
  readonly #unfollow: (() => void) | undefined;
  failure: { readonly error: unknown; readonly index: number } | undefined;

  constructor(outer: AbortSignal, count: number) {
    this.#outer = outer;
    if (count < 2) return;
    const controller = new AbortController();
    this.#controller = controller;
    setMaxListeners(0, controller.signal);
    const stop = (): void => controller.abort(outer.reason);
    if (outer.aborted) stop();
    else this.#unfollow = onAbort(outer, stop);
  }

  get signal(): AbortSignal {
    return this.#controller?.signal ?? this.#outer;
  }

  fail(error: unknown, index: number): void {
    this.failure ??= { error, index };
    this.#controller?.abort(error);
  }

  throwIfFailed(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }

  end(): void {
    this.#unfollow?.();
  }
}

/** Says which chunk it was and what became of the others: the caller must know whether gradients were accumulated. */
function explainRefusal(
  error: unknown,
  failedIndex: number | undefined,
  seqIds: readonly number[],
  requestIds: readonly (string | undefined)[],
): unknown {
  if (failedIndex === undefined || seqIds.length < 2 || !TinkexError.isInstance(error)) return error;
  const accepted = seqIds.filter((_, index) => requestIds[index] !== undefined);
  const others = seqIds.filter((_, index) => requestIds[index] === undefined && index !== failedIndex);
  const refusal = error as ApiStatusError;
  refusal.message +=
    ` [chunk ${failedIndex + 1} of ${seqIds.length}, seq_id ${seqIds[failedIndex]}; ` +
    `accepted before: ${accepted.join(', ') || 'none'}; given up: ${others.join(', ') || 'none'}]`;
  return refusal;
}
