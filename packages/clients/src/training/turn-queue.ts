import { onAbort } from '@tinkex/http';
import { AbortedError } from '@tinkex/types';

/** The turn of one operation in the queue of its training client, with its sequence IDs. */
export interface Turn {
  /** Ascending, reserved for this operation alone. */
  readonly seqIds: readonly number[];
  /**
   * Resolves when every operation called before this one has finished submitting.
   *
   * @param signal - Aborting rejects with `AbortedError`; {@link end} is still due.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Ends the turn, regardless of its outcome, and starts the next. Call it at least once; before {@link start} it skips the turn. */
  end(): void;
}

interface Place {
  isEnded: boolean;
  wake: (() => void) | undefined;
}

/**
 * Keeps the submissions of one training client in the order of the calls. {@link reserve} takes the sequence IDs synchronously. An operation
 * that fails, or is aborted before its turn, leaves a gap in the sequence IDs but never holds up the rest.
 */
export class TurnQueue {
  #nextSeqId: number;
  readonly #places: Place[] = [];
  /** Index of the place whose turn it is; everything before it has ended. */
  #head = 0;

  /** @param firstSeqId - 1 on the wire: 0 stands for the creation of the model. */
  constructor(firstSeqId = 1) {
    this.#nextSeqId = firstSeqId;
  }

  /** The sequence ID of the next operation. */
  get nextSeqId(): number {
    return this.#nextSeqId;
  }

  /** How many operations have not finished submitting. */
  get pending(): number {
    return this.#places.length - this.#head;
  }

  /** Reserves the next turn and `count` consecutive sequence IDs. */
  reserve(count = 1): Turn {
    const seqIds = Array.from({ length: count }, (_, index) => this.#nextSeqId + index);
    this.#nextSeqId += count;
    const place: Place = { isEnded: false, wake: undefined };
    this.#places.push(place);
    return {
      seqIds,
      start: (signal) => this.#start(place, signal),
      end: () => this.#end(place),
    };
  }

  #start(place: Place, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.reject(abortedBeforeTurn(signal));
    if (this.#places[this.#head] === place) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let unfollow: (() => void) | undefined;
      place.wake = () => {
        unfollow?.();
        resolve();
      };
      if (signal === undefined) return;
      unfollow = onAbort(signal, () => {
        place.wake = undefined;
        reject(abortedBeforeTurn(signal));
      });
    });
  }

  #end(place: Place): void {
    place.isEnded = true;
    while (this.#places[this.#head]?.isEnded) this.#head += 1;
    if (this.#head > 64 && this.#head * 2 > this.#places.length) {
      this.#places.splice(0, this.#head);
      this.#head = 0;
    }
    const next = this.#places[this.#head];
    const wake = next?.wake;
    if (next === undefined || wake === undefined) return;
    next.wake = undefined;
    wake();
  }
}

function abortedBeforeTurn(signal: AbortSignal): AbortedError {
  return new AbortedError({ message: 'The call was aborted while it waited for its turn. Nothing was sent.', cause: signal.reason });
}
