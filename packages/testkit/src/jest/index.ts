import type { RemoteServer } from '../remote/remote-server.js';
import type { ServerProcessOptions } from '../remote/server-process.js';
import { type TestHooks, useServer } from '../remote/use-server.js';

export type { RemoteScript } from '../remote/remote-script.js';
export type { ExpectedCalls, RemoteCall, RemoteCallFilter } from '../remote/remote-server.js';
export type { RemoteServer, ServerProcessOptions, TestHooks };

/** Options of {@link useTinkexServer}. */
export interface JestServerOptions extends ServerProcessOptions {
  /** Where the hooks come from. Default: Jest's globals; with `injectGlobals: false`, pass what `@jest/globals` exports. */
  readonly hooks?: TestHooks | undefined;
}

/**
 * A Tinker server for the tests of a file. It runs in its own process, so it works in CommonJS and without flags of Node. Each test has its own
 * scope; when the test ends, it fails if your code broke a rule of the protocol or a script was not used.
 *
 * @example
 * const server = useTinkexServer({ engine: 'canned' });
 *
 * test('waits for the rate limit', async () => {
 *   await server.on('asample').once().reply(429, { retryAfterMs: 10 });
 *   await runMyApp(server.clientOptions);
 * });
 */
export function useTinkexServer({ hooks = globalHooks(), ...options }: JestServerOptions = {}): RemoteServer {
  return useServer(hooks, options);
}

function globalHooks(): TestHooks {
  const found = globalThis as Partial<TestHooks>;
  if (typeof found.beforeAll !== 'function' || typeof found.afterEach !== 'function') {
    throw new Error(
      'There are no beforeAll and afterEach here. Call useTinkexServer() in a test file, or pass the hooks of @jest/globals.',
    );
  }
  return found as TestHooks;
}
