import { type Clock, systemClock } from '../../packages/http/src/index.js';
import type { ServerProcess } from './server-process.js';

const HOUR_MS = 3_600_000;
/** Longer than a turn of any loop, shorter than the deadline of a poll. */
const PAUSE_MS = 3_000;

/** The system clock, whose wall time can be set. */
export class JumpingClock implements Clock {
  readonly #timers: Pick<Clock, 'monotonicMs' | 'setTimeout' | 'clearTimeout'> = systemClock;
  #offsetMs = 0;

  jump(byMs: number): void {
    this.#offsetMs += byMs;
  }

  monotonicMs() {
    return this.#timers.monotonicMs();
  }

  wallMs(): number {
    return systemClock.wallMs() + this.#offsetMs;
  }

  setTimeout(callback: () => void, delayMs: number): unknown {
    return this.#timers.setTimeout(callback, delayMs);
  }

  clearTimeout(handle: unknown): void {
    this.#timers.clearTimeout(handle);
  }
}

/** How often each trouble has struck. */
export interface TroubleCounts {
  jumps: number;
  pauses: number;
  restarts: number;
}

/** The troubles of a run, one after the other, until they are stopped. */
export interface Troubles {
  readonly counts: TroubleCounts;
  /** Ends the troubles; waits for the one under way. */
  stop(): Promise<void>;
}

/** Strikes one trouble in every interval: the wall clock jumps, the server freezes, the wall clock jumps back, the server is killed and restarted. */
export function startTroubles(server: ServerProcess, clock: JumpingClock, intervalMs: number): Troubles {
  const counts: TroubleCounts = { jumps: 0, pauses: 0, restarts: 0 };
  const jump = async (byMs: number): Promise<void> => {
    clock.jump(byMs);
    counts.jumps += 1;
  };
  const kinds: readonly (() => Promise<void>)[] = [
    () => jump(HOUR_MS),
    async () => {
      await server.pause(PAUSE_MS);
      counts.pauses += 1;
    },
    () => jump(-2 * HOUR_MS),
    async () => {
      await server.restart();
      counts.restarts += 1;
    },
    () => jump(HOUR_MS),
  ];
  let isStopping = false;
  let wake: () => void = () => undefined;
  const interval = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, intervalMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const run = async (): Promise<void> => {
    for (let index = 0; !isStopping; index += 1) {
      await interval();
      if (!isStopping) await kinds[index % kinds.length]?.();
    }
  };
  const running = run();
  return {
    counts,
    stop: async () => {
      isStopping = true;
      wake();
      await running;
    },
  };
}
