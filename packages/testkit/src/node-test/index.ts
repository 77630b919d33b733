import { type TestContext, test } from 'node:test';
import { VirtualClock } from '@tinkex/http/testing';
import { leaksOf, timersThatWait } from '../fixture/leaks.js';
import { startServer } from '../server/create-server.js';
import type { ListenOptions, TestServerOptions } from '../server/server-options.js';
import type { TestServer } from '../server/test-server.js';

/** What a test of {@link tinkexTest} gets. */
export interface TinkexTestContext {
  /** A new server on loopback. After the test it is verified, checked for leaks, and closed. */
  readonly server: TestServer;
  /** The clock of the server; give it to the client too. It moves only when you advance it. */
  readonly clock: VirtualClock;
  /** What a client of the server needs. */
  readonly clientOptions: { readonly baseUrl: string; readonly apiKey: string; readonly clock: VirtualClock };
  /** The context of node:test. */
  readonly test: TestContext;
}

/** Options of {@link tinkexTest}: those of the server, and when the test counts as hanging. */
export interface TinkexTestOptions extends TestServerOptions, ListenOptions {
  /** When the test fails because it still runs, in real time. Default 30,000. */
  readonly timeoutMs?: number | undefined;
}

/** A test with its server. */
export type TinkexTestFunction = (context: TinkexTestContext) => void | Promise<void>;

/**
 * `test` of node:test with a new Tinker server for each test. When the test ends, it calls `server.verify()` and fails if the client left calls,
 * connections or timers behind: close the client in the test.
 *
 * @example
 * tinkexTest('samples', async ({ server, clientOptions }) => {
 *   server.expect('asample').once();
 *   await runMyApp(clientOptions);
 * });
 */
export function tinkexTest(name: string, run: TinkexTestFunction): Promise<void>;
/** The same, with options of the server before the function. */
export function tinkexTest(name: string, options: TinkexTestOptions, run: TinkexTestFunction): Promise<void>;
export function tinkexTest(name: string, ...rest: [TinkexTestFunction] | [TinkexTestOptions, TinkexTestFunction]): Promise<void> {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
  return test(name, (context) => runWithServer(context, options, run));
}

const DEFAULT_TIMEOUT_MS = 30_000;

async function runWithServer(test: TestContext, options: TinkexTestOptions, run: TinkexTestFunction): Promise<void> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, ...serverOptions } = options;
  const clock = new VirtualClock();
  const server = await startServer({ clock, ...serverOptions });
  // Not the timeout of node:test: its timer does not keep the process alive, and a test that waits for the virtual clock leaves nothing that does.
  const { promise: tooLate, reject } = deferred();
  const timer = setTimeout(() => {
    const forgotten = timersThatWait(clock.pending - server.pendingTimers);
    reject(new Error(forgotten ?? `The test timed out after ${timeoutMs} ms.`));
  }, timeoutMs);
  try {
    await Promise.race([run({ server, clock, clientOptions: { ...server.clientOptions, clock }, test }), tooLate]);
    server.verify();
    const leaks = await leaksOf(server, clock);
    if (leaks.length > 0) throw new Error(`The test left behind: ${leaks.join(', ')}. Close the client before the test ends.`);
  } finally {
    clearTimeout(timer);
    await server.close();
  }
}

function deferred(): { readonly promise: Promise<never>; readonly reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_, rejectPromise) => {
    reject = rejectPromise;
  });
  return { promise, reject };
}
