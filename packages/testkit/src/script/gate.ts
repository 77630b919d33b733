import type { RouteName } from '../routes/route-types.js';

/**
 * Where a gate holds a call: `request` before anything is done with it, `execution` after it was accepted and its future
 * made, before the engine runs it, `reply` when the work is done and only the answer is missing.
 */
export type GatePlace = 'request' | 'execution' | 'reply';

interface HeldCall {
  readonly pass: () => void;
}

interface CountWaiter {
  readonly count: number;
  readonly resolve: () => void;
}

/** Holds calls of a route until the test lets them go. */
export class Gate {
  readonly route: RouteName;
  readonly place: GatePlace;
  readonly #held: HeldCall[] = [];
  readonly #waiters = new Set<CountWaiter>();
  #isOpen = false;
  #passed = 0;

  constructor(route: RouteName, place: GatePlace) {
    this.route = route;
    this.place = place;
  }

  /** How many calls it holds now. */
  get waiting(): number {
    return this.#held.length;
  }

  /** How many calls have gone through. */
  get passed(): number {
    return this.#passed;
  }

  /** Resolves once it holds at least `count` calls. */
  async waitFor(count: number): Promise<void> {
    if (this.#held.length >= count) return;
    await new Promise<void>((resolve) => {
      this.#waiters.add({ count, resolve });
    });
  }

  /** Lets the `count` calls that have waited longest go; fewer when there are fewer. */
  release(count = 1): void {
    for (const call of this.#held.splice(0, count)) {
      this.#passed += 1;
      call.pass();
    }
  }

  /** Lets everything go, now and from now on. */
  open(): void {
    this.#isOpen = true;
    this.release(this.#held.length);
  }

  /** Holds calls again. */
  close(): void {
    this.#isOpen = false;
  }

  /** @internal Waits here. With `onAbort` a client that goes away leaves the queue. */
  async hold(onAbort?: (listener: () => void) => () => void): Promise<void> {
    if (this.#isOpen) {
      this.#passed += 1;
      return;
    }
    await new Promise<void>((resolve) => {
      let stopListening: (() => void) | undefined;
      const call: HeldCall = {
        pass: () => {
          stopListening?.();
          resolve();
        },
      };
      this.#held.push(call);
      stopListening = onAbort?.(() => {
        const at = this.#held.indexOf(call);
        if (at >= 0) this.#held.splice(at, 1);
        resolve();
      });
      for (const waiter of this.#waiters) {
        if (this.#held.length >= waiter.count) {
          this.#waiters.delete(waiter);
          waiter.resolve();
        }
      }
    });
  }
}
