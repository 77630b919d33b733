import { type Chaos, type ChaosOptions, startServer, type TestServer } from '@tinkex/testkit';

/** A service of its own for a program: not the embedded one, and one that drops and refuses calls now and then. */
export interface BusyService extends AsyncDisposable {
  readonly server: TestServer;
  readonly chaos: Chaos;
  /** The environment that leads a program to it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts it. The faults are decided by the seed. */
export async function busyService(options: ChaosOptions): Promise<BusyService> {
  const server = await startServer();
  const chaos = server.chaos({ rate: 0.04, ...options });
  const env = { TINKER_BASE_URL: server.url, TINKER_API_KEY: server.apiKey };
  return { server, chaos, env, [Symbol.asyncDispose]: () => server.close() };
}
