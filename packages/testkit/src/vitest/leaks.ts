import type { VirtualClock } from '@tinkex/http/testing';
import type { TestServer } from '../server/test-server.js';

const MAX_TURNS = 200;

/** What a client has left open, in words; what the server itself has left to do is none of its business. Closed sockets take a few turns of the event loop to be seen as closed. */
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
    // Without a connection there is nobody who waits for an answer: the server only has not noticed yet.
    [openSockets === 0 ? 0 : server.inFlight(), 'calls in flight'],
    [openSockets, 'open connections'],
    [clock.pending - server.pendingTimers, 'timers on the virtual clock'],
  ];
  return counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}
