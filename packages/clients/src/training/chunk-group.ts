import { onAbort } from '@tinkex/http';
import { TinkexError } from '@tinkex/types';

/** The chunks of one pass fail together: the first failure aborts the others. */
export class ChunkGroup {
  readonly requestIds: (string | undefined)[];
  readonly #seqIds: readonly number[];
  readonly #outer: AbortSignal;
  /** Only for several chunks: a single chunk has no others to abort. */
  readonly #controller: AbortController | undefined;
  readonly #unfollow: (() => void) | undefined;
  #failure: { readonly error: unknown; readonly index: number } | undefined;

  constructor(outer: AbortSignal, seqIds: readonly number[]) {
    this.requestIds = seqIds.map(() => undefined);
    this.#seqIds = seqIds;
    this.#outer = outer;
    if (seqIds.length < 2) return;
    const controller = new AbortController();
    this.#controller = controller;
    if (outer.aborted) controller.abort(outer.reason);
    else this.#unfollow = onAbort(outer, () => controller.abort(outer.reason));
  }

  get signal(): AbortSignal {
    return this.#controller?.signal ?? this.#outer;
  }

  fail(error: unknown, index: number): void {
    this.#failure ??= { error, index };
    this.#controller?.abort(error);
  }

  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Adds which chunk was refused and what became of the others: the caller must know whether gradients were accumulated. */
  explain(thrown: unknown): unknown {
    const { error, index } = this.#failure ?? { error: thrown, index: undefined };
    const count = this.#seqIds.length;
    if (index === undefined || count < 2 || !TinkexError.isInstance(error)) return error;
    const accepted = this.#seqIds.filter((_, other) => this.requestIds[other] !== undefined);
    const others = this.#seqIds.filter((_, other) => this.requestIds[other] === undefined && other !== index);
    error.message +=
      ` [chunk ${index + 1} of ${count}, sequence ID ${this.#seqIds[index]}; ` +
      `accepted before: ${accepted.join(', ') || 'none'}; given up: ${others.join(', ') || 'none'}]`;
    return error;
  }

  end(): void {
    this.#unfollow?.();
  }
}
