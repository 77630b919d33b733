import type { RouteName } from '../routes/route-types.js';

/**
 * Where a gate holds a call: at the `request`, before any work; before the `execution`, when the operation is accepted and its future
 * exists but the engine has not run it; or before the `reply`, when all work is done.
 */
export type GatePlace = 'request' | 'execution' | 'reply';

interface HeldCall {
  readonly pass: () => void;
}

interface CountWaiter {
  readonly count: number;
  readonly resolve: () => void;
}

/** Holds calls of a route until the test releases them. */
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

  /** Releases the `count` calls that have waited longest, or all if there are fewer. */
  release(count = 1): void {
    for (const call of this.#held.splice(0, count)) {
      this.#passed += 1;
      call.pass();
    }
  }

  /** Releases every held call and holds no more. */
  open(): void {
    this.#isOpen = true;
    this.release(this.#held.length);
  }

  /** Holds calls again. */
  close(): void {
    this.#isOpen = false;
  }

  /** @internal Waits at the gate. With `onAbort`, a client that goes away leaves it. */
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
