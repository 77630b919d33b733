import type { TestServer, VirtualClock } from '@tinkex/testkit';

/** Waits at least this long are deadlines of requests; shorter ones are backoffs, pauses and paces. */
const DEADLINE_MS = 40_000;
/** Rounds of the event loop after which nothing more will happen without time passing, as far as loopback goes. */
const TURNS_BEFORE_BACKOFF = 12;
/** Before a deadline may fire, the server must have been silent for so long: resets are sent a few real milliseconds late. */
const SILENCE_MS = 12;

/**
 * Moves a virtual clock until the promise settles. Backoffs are skipped as soon as the event loop has nothing else to do; a request's deadline
 * fires only when nothing moves any more, that is, when the server has stalled it.
 */
export async function driveThroughDeadlines<T>(clock: VirtualClock, server: TestServer, work: PromiseLike<T>): Promise<T> {
  let isSettled = false;
  const settled = Promise.resolve(work).finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  while (!isSettled) {
    await turns(TURNS_BEFORE_BACKOFF);
    const nextInMs = clock.nextInMs;
    if (isSettled || nextInMs === undefined) continue;
    if (nextInMs >= DEADLINE_MS && !(await isSilent(server, clock))) continue;
    await clock.advance(nextInMs);
  }
  return settled;
}

async function isSilent(server: TestServer, clock: VirtualClock): Promise<boolean> {
  const before = activity(server, clock);
  await new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
  return activity(server, clock) === before;
}

function activity(server: TestServer, clock: VirtualClock): string {
  return `${server.calls.length} ${server.inFlight()} ${clock.pending} ${clock.nextInMs}`;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
