import { VirtualClock } from '@tinkex/http/testing';
import { type TestAPI, test } from 'vitest';
import { leaksOf, timersThatWait } from '../fixture/leaks.js';
import { startServer } from '../server/create-server.js';
import type { ListenOptions, TestServerOptions } from '../server/server-options.js';
import type { TestServer } from '../server/test-server.js';

/** The fixtures of {@link tinkexTest}. */
export interface TinkexFixtures {
  /** Options of the server. Set them with `tinkexTest.override({ serverOptions: … })` (`scoped` before vitest 4.1). Default: none. */
  readonly serverOptions: TestServerOptions & ListenOptions;
  /** The clock of the server; give it to the client too. It moves only when you advance it. */
  readonly clock: VirtualClock;
  /** A new server on loopback. After the test it is verified, checked for leaks, and closed. */
  readonly server: TestServer;
  /** What a client of the server needs. */
  readonly clientOptions: { readonly baseUrl: string; readonly apiKey: string; readonly clock: VirtualClock };
}

/**
 * `test` with a new Tinker server for each test. When the test ends, the fixture calls `server.verify()`, and the test fails if the
 * client left calls, connections or timers behind: close the client in the test.
 *
 * @example
 * tinkexTest('samples', async ({ server, clientOptions }) => {
 *   server.expect('asample').once();
 *   await runMyApp(clientOptions);
 * });
 */
export const tinkexTest: TestAPI<TinkexFixtures> = test.extend<TinkexFixtures>({
  serverOptions: {},
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the dependencies of a fixture from the pattern
  clock: async ({}, use) => {
    await use(new VirtualClock());
  },
  server: async ({ clock, serverOptions, signal }, use) => {
    const server = await startServer({ clock, ...serverOptions });
    try {
      await use(server);
      // A test that waits for the virtual clock waits forever: say so before anything else.
      const forgotten = signal?.aborted ? timersThatWait(clock.pending - server.pendingTimers) : undefined;
      if (forgotten !== undefined) throw new Error(forgotten);
      server.verify();
      const leaks = await leaksOf(server, clock);
      if (leaks.length > 0) throw new Error(`The test left behind: ${leaks.join(', ')}. Close the client before the test ends.`);
    } finally {
      await server.close();
    }
  },
  clientOptions: async ({ server, clock }, use) => {
    await use({ ...server.clientOptions, clock });
  },
});
