/** What pending polls say about the queue. */
export interface QueueStateNote {
  readonly state: 'active' | 'paused_capacity' | 'paused_rate_limit' | (string & {});
  readonly reason?: string | undefined;
}

/** A queue that can be paused: nothing runs until it is resumed. */
export class QueuePause {
  #note: QueueStateNote | undefined;
  #waiters: (() => void)[] = [];

  get note(): QueueStateNote | undefined {
    return this.#note;
  }

  get isPaused(): boolean {
    return this.#note !== undefined && this.#note.state !== 'active';
  }

  set(note: QueueStateNote | undefined): void {
    this.#note = note;
    if (!this.isPaused) {
      const waiters = this.#waiters;
      this.#waiters = [];
      for (const waiter of waiters) waiter();
    }
  }

  async whileActive(): Promise<void> {
    while (this.isPaused) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
      });
    }
  }
}
