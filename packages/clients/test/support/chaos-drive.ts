import type { TestServer, VirtualClock } from '@tinkex/testkit';
import type { ServiceClient } from '../../src/index.js';

/** Waits at least this long are deadlines of requests; shorter ones are backoffs, pauses and paces. */
const DEADLINE_MS = 40_000;
/** Rounds of the event loop after which nothing more will happen without time passing, as far as loopback goes. */
const TURNS_BEFORE_BACKOFF = 12;
/** Before a deadline may fire, the server must have been silent for so long: resets are sent a few real milliseconds late. */
const SILENCE_MS = 12;
/** Work that takes longer on the virtual clock never ends: the longest limit of the client, two hours without a successful sample, has passed. */
const STUCK_AFTER_MS = 3 * 3_600_000;
/** Rounds without any timer after which nothing can move again: the slowest answer of the server takes a few real milliseconds. */
const STUCK_AFTER_ROUNDS = 100_000;

/**
 * Moves a virtual clock until the promise settles. Backoffs are skipped as soon as the event loop has nothing else to do; a request's deadline
 * fires only when nothing moves any more, that is, when the server has stalled it.
 *
 * @throws What the promise rejects with, or an error that shows where the work is stuck.
 */
export async function driveThroughDeadlines<T>(clock: VirtualClock, server: TestServer, work: PromiseLike<T>): Promise<T> {
  let isSettled = false;
  const settled = Promise.resolve(work).finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  const limitMs = clock.elapsedMs + STUCK_AFTER_MS;
  let roundsWithoutTimer = 0;
  while (!isSettled) {
    await turns(TURNS_BEFORE_BACKOFF);
    const nextInMs = clock.nextInMs;
    if (isSettled) break;
    roundsWithoutTimer = nextInMs === undefined ? roundsWithoutTimer + 1 : 0;
    if (roundsWithoutTimer > STUCK_AFTER_ROUNDS || clock.elapsedMs > limitMs) throw new Error(`The run is stuck. ${latestCalls(server)}`);
    if (nextInMs === undefined) continue;
    if (nextInMs >= DEADLINE_MS && !(await isSilent(server, clock))) continue;
    await clock.advance(nextInMs);
  }
  return settled;
}

/** What a run uses and has to close. */
export interface ChaosRig {
  readonly clock: VirtualClock;
  readonly server: TestServer;
  readonly service: ServiceClient;
}

/**
 * Does the work, then closes. Closing happens on the virtual clock too: after a failure, the request that finishes the session meets faults
 * and retries like any other, and would wait forever for a clock that stands still.
 */
export async function closeAfter<T>({ clock, server, service }: ChaosRig, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await Promise.allSettled([driveThroughDeadlines(clock, server, service.close())]);
    await server.close();
  }
}

async function isSilent(server: TestServer, clock: VirtualClock): Promise<boolean> {
  const before = activity(server, clock);
  await new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
  return activity(server, clock) === before;
}

function activity(server: TestServer, clock: VirtualClock): string {
  return `${server.calls.length} ${server.inFlight()} ${clock.pending} ${clock.nextInMs}`;
}

function latestCalls(server: TestServer): string {
  const latest = server.calls.slice(-20).map(({ route, requestId = '', fault = '', status }) => `${route} ${requestId} ${fault} ${status}`);
  return `${server.inFlight()} calls in flight. The latest calls:\n${latest.join('\n')}`;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
