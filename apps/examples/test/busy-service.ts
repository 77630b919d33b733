import { type Chaos, startServer, type TestServer } from '@tinkex/testkit';

/** A separate service for a program: not the embedded one, and one that drops and refuses calls now and then. */
export interface BusyService extends AsyncDisposable {
  readonly server: TestServer;
  readonly chaos: Chaos;
  /** The environment that leads a program to it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts it. Faults of any kind, on any call, decided by a seed: the same for every program. */
export async function busyService(): Promise<BusyService> {
  const server = await startServer();
  const chaos = server.chaos({ seed: 11, rate: 0.05 });
  const env = { TINKER_BASE_URL: server.url, TINKER_API_KEY: server.apiKey };
  return { server, chaos, env, [Symbol.asyncDispose]: () => server.close() };
}
