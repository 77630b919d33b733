import type { Clock } from '@tinkex/http';

/** A future of a sampling session that has ended. */
export interface Completion {
  readonly requestId: string;
  readonly state: 'finished' | 'failed';
}

/** The futures of one holder of a sampling session that have ended, in the order in which they ended. Each has a cursor, from 1 up. */
export class CompletionLog {
  readonly #entries = new Map<number, Completion>();
  readonly #waiters = new Set<() => void>();
  #cursor = 0;

  /** The cursor of the newest entry. */
  get cursor(): number {
    return this.#cursor;
  }

  add(completion: Completion): void {
    this.#cursor += 1;
    this.#entries.set(this.#cursor, completion);
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Forgets everything up to a cursor that the client has seen, and returns the rest. */
  after(prevCursor: number): Completion[] {
    // A cursor from before a restart: the entries of this log are newer.
    if (prevCursor > this.#cursor) this.#moveBehind(prevCursor);
    for (const cursor of this.#entries.keys()) {
      if (cursor > prevCursor) break;
      this.#entries.delete(cursor);
    }
    return [...this.#entries.values()];
  }

  /** Resolves when there is an entry, `holdMs` have passed, or the client went away. */
  wait(holdMs: number, clock: Clock, onAbort?: (listener: () => void) => () => void): Promise<void> {
    return new Promise((resolve) => {
      let stopListening: (() => void) | undefined;
      const finish = (): void => {
        clock.clearTimeout(timer);
        this.#waiters.delete(finish);
        stopListening?.();
        resolve();
      };
      const timer = clock.setTimeout(finish, holdMs);
      this.#waiters.add(finish);
      stopListening = onAbort?.(finish);
    });
  }

  #moveBehind(cursor: number): void {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    this.#cursor = cursor;
    for (const entry of entries) this.add(entry);
  }
}
