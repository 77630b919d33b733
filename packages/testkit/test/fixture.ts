import { test } from 'vitest';
import { startServer, type TestServer, type TestServerOptions, VirtualClock } from '../src/index.js';
import { RawClient } from './raw-client.js';

interface Fixtures {
  readonly options: TestServerOptions;
  readonly clock: VirtualClock;
  readonly server: TestServer;
  readonly client: RawClient;
}

/** A server with canned answers and a virtual clock, and a client of nothing but HTTP. */
export const rawTest = test.extend<Fixtures>({
  options: {},
  // biome-ignore lint/correctness/noEmptyPattern: vitest finds out what a fixture needs by the pattern
  clock: async ({}, use) => {
    await use(new VirtualClock());
  },
  server: async ({ clock, options }, use) => {
    const server = await startServer({ clock, engine: 'canned', ...options });
    await use(server);
    await server.close();
  },
  client: async ({ server }, use) => {
    const client = new RawClient(server);
    await use(client);
    await client.close();
  },
});

/** The rules that were broken, in order. */
export function brokenRules(server: TestServer): string[] {
  return server.violations.map(({ rule }) => rule);
}
