import type { VirtualClock } from '@tinkex/http/testing';
import type { TestServer } from '../server/test-server.js';

const MAX_TURNS = 200;

/** What a client has left open, in words. Waits a few turns of the event loop, because sockets take some to be seen as closed. */
export async function leaksOf(server: TestServer, clock: VirtualClock): Promise<string[]> {
  let leaks = leaksNow(server, clock);
  for (let turn = 0; turn < MAX_TURNS && leaks.length > 0; turn++) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    leaks = leaksNow(server, clock);
  }
  return leaks;
}

function leaksNow(server: TestServer, clock: VirtualClock): string[] {
  const { openSockets } = server;
  const counts: readonly (readonly [number, string])[] = [
    // Without a connection no client waits for an answer: the server has not noticed yet.
    [openSockets === 0 ? 0 : server.inFlight(), 'calls in flight'],
    [openSockets, 'open connections'],
    [clock.pending - server.pendingTimers, 'timers on the virtual clock'],
  ];
  return counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}

/** What to tell the author of a test that timed out while the client's timers waited on the virtual clock; undefined when none did. */
export function timersThatWait(count: number): string | undefined {
  if (count <= 0) return undefined;
  const timers = count === 1 ? '1 timer waits' : `${count} timers wait`;
  return `The test timed out while ${timers} on the virtual clock, which moves only when you advance it. Wrap what you await in clock.runUntil(…), or call clock.advance(ms).`;
}
