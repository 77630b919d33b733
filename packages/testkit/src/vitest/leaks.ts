import type { VirtualClock } from '../clock/virtual-clock.js';
import type { TestServer } from '../server/test-server.js';

const MAX_TURNS = 200;

/** What a client has left open, in words. Closed sockets take a few turns of the event loop to be seen as closed. */
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
  const counts: readonly (readonly [number, string])[] = [
    [server.inFlight(), 'calls in flight'],
    [server.openSockets, 'open connections'],
    [clock.pending, 'timers on the virtual clock'],
  ];
  return counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}
