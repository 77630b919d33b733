import type { VirtualClock } from '@tinkex/testkit';

/** Timers at least this far away are deadlines of requests or periodic work; moving to them would break what is under way. */
const DEADLINE_MS = 40_000;

/**
 * Moves a virtual clock from wait to wait until the promise settles. Only short waits (backoffs) are skipped; real I/O gets its time
 * in between, and request deadlines never fire.
 */
export async function drive<T>(clock: VirtualClock, work: PromiseLike<T>): Promise<T> {
  let isSettled = false;
  const settled = Promise.resolve(work).finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  while (!isSettled) {
    await turns(20);
    const nextInMs = clock.nextInMs;
    if (!isSettled && nextInMs !== undefined && nextInMs < DEADLINE_MS) await clock.advance(nextInMs);
  }
  return settled;
}

/** Lets the event loop go round: what can happen without time passing has happened then. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
