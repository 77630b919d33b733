import { AbortedError } from '@tinkex/types';
import { onAbort } from '../runtime/on-abort.js';

/** A place in the line of one training client, with the sequence numbers that go with it. */
export interface Turn {
  /** Wire sequence numbers, ascending, reserved for this operation alone. */
  readonly seqIds: readonly number[];
  /**
   * Resolves when every operation called before this one has finished submitting.
   *
   * @param signal - Aborting leaves the line with `AbortedError`; {@link end} is still due.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Ends the turn, whatever became of it, and lets the next one start. Must be called exactly once or more; before its start it skips. */
  end(): void;
}

interface Place {
  isEnded: boolean;
  wake: (() => void) | undefined;
}

/**
 * Puts the submissions of one training client in the order of the calls. A number is taken when {@link reserve} is called,
 * synchronously; an operation that fails, or gives up before its turn, leaves a gap in the numbers but never holds up the rest.
 */
export class TurnLine {
  #nextSeqId: number;
  readonly #places: Place[] = [];
  /** Index of the place whose turn it is; everything before it has ended. */
  #head = 0;

  /** @param firstSeqId - 1 on the wire: 0 stands for the creation of the model. */
  constructor(firstSeqId = 1) {
    this.#nextSeqId = firstSeqId;
  }

  /** The number the next operation will get. */
  get nextSeqId(): number {
    return this.#nextSeqId;
  }

  /** How many operations have not finished submitting. */
  get pending(): number {
    return this.#places.length - this.#head;
  }

  /** Takes the next place and `count` consecutive sequence numbers. */
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
    if (signal?.aborted) return Promise.reject(leftTheLine(signal));
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
        reject(leftTheLine(signal));
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

function leftTheLine(signal: AbortSignal | undefined): AbortedError {
  return new AbortedError({ message: 'Cancelled while waiting for its turn; nothing was sent', cause: signal?.reason });
}
