import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceClient } from '@tinkex/clients';
import { createTestServer, memoryTransport, type TestServer } from '@tinkex/testkit';
import { afterEach, beforeEach } from 'vitest';

/** A server in memory, clients of it, and a folder for runs. */
export interface Rig {
  readonly server: TestServer;
  readonly folder: string;
  /** A client that is closed when the test ends. */
  connect(): ServiceClient;
}

/** Creates a rig for each test of a file. Call it once, at the top. */
export function rig(): Rig {
  let server: TestServer;
  let folder: string;
  const services: ServiceClient[] = [];
  beforeEach(async () => {
    server = createTestServer();
    folder = await mkdtemp(join(tmpdir(), 'tinkex-cookbook-'));
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close()));
    await server.close();
    await rm(folder, { recursive: true });
  });
  return {
    get server() {
      return server;
    },
    get folder() {
      return folder;
    },
    connect() {
      const service = new ServiceClient({ ...server.clientOptions, transport: memoryTransport(server), telemetry: false });
      services.push(service);
      return service;
    },
  };
}
