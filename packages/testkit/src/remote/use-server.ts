import { randomUUID } from 'node:crypto';
import { sharedServerEnvironment } from '../target/environment.js';
import type { ControlAddress } from './control-request.js';
import { RemoteServer } from './remote-server.js';
import { type ServerProcess, type ServerProcessOptions, startServerProcess } from './server-process.js';

/** How a test runner takes code that runs around tests. */
export interface TestHooks {
  beforeAll(run: () => Promise<void>): void;
  beforeEach(run: () => Promise<void>): void;
  afterEach(run: () => Promise<void>): void;
  afterAll(run: () => Promise<void>): void;
}

/**
 * A test server for the tests of a file: one process for all of them, and for each test its own scope, which is verified when the test ends. If
 * `TINKEX_TESTKIT_URL` and `TINKEX_TESTKIT_TOKEN` are set, that server is used and none is started.
 */
export function useServer(hooks: TestHooks, options: ServerProcessOptions = {}): RemoteServer {
  let started: ServerProcess | undefined;
  let shared: Omit<ControlAddress, 'scope'> | undefined;
  let scope: string | undefined;
  const server = new RemoteServer(() => {
    if (shared === undefined || scope === undefined) throw new Error('The test server is there inside of tests and of their beforeEach.');
    return { ...shared, scope };
  });
  hooks.beforeAll(async () => {
    shared = sharedServer();
    if (shared === undefined) shared = started = await startServerProcess(options);
  });
  hooks.beforeEach(async () => {
    scope = `js-${randomUUID().slice(0, 12)}`;
  });
  hooks.afterEach(async () => {
    try {
      await server.verify();
    } finally {
      await server.reset();
      scope = undefined;
    }
  });
  hooks.afterAll(async () => {
    await started?.stop();
  });
  return server;
}

function sharedServer(): Omit<ControlAddress, 'scope'> | undefined {
  const { url, token } = sharedServerEnvironment();
  if (url === undefined && token === undefined) return undefined;
  if (url === undefined || token === undefined) throw new Error('Set both TINKEX_TESTKIT_URL and TINKEX_TESTKIT_TOKEN, or neither.');
  return { url: url.replace(/\/+$/, ''), token };
}
