import { ServiceClient, type ServiceClientOptions } from '@tinkex/clients';
import { startServer, type TestServer, VirtualClock } from '@tinkex/testkit';
import { afterEach, beforeEach } from 'vitest';

/** What each test of a file starts with. */
export interface CannedRig {
  /** Over a real socket, with canned answers. */
  readonly server: TestServer;
  /** The clients' time. */
  readonly clock: VirtualClock;
  /** A client of the server, without randomness, heartbeats or reports; it is closed when the test ends. */
  connect(options?: ServiceClientOptions): ServiceClient;
}

/** A server, a virtual clock and clients for each test. Call it once, at the top of the file. */
export function cannedRig(): CannedRig {
  let server: TestServer;
  let clock: VirtualClock;
  const services: ServiceClient[] = [];
  beforeEach(async () => {
    server = await startServer({ engine: 'canned' });
    clock = new VirtualClock();
  });
  afterEach(async () => {
    // A test may have ended the server of a client; then its session cannot be finished, which takes until the time limit.
    await clock.runUntil(Promise.allSettled(services.splice(0).map((service) => service.close())));
    await server.close();
  });
  return {
    get server() {
      return server;
    },
    get clock() {
      return clock;
    },
    connect(options = {}) {
      const quiet = { clock, random: () => 0.5, heartbeatIntervalMs: 3_600_000, telemetry: false };
      const service = new ServiceClient({ ...server.clientOptions, ...quiet, ...options });
      services.push(service);
      return service;
    },
  };
}
