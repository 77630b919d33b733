import { RemoteServer } from './remote-server.js';

/** Options of {@link connectTestServer}. */
export interface ConnectOptions {
  /** The base URL that `serve --control` prints. */
  readonly url: string;
  /** The control token that it prints. */
  readonly token: string;
  /** The scope to control. Default: the whole server. */
  readonly scope?: string | undefined;
}

/**
 * The controls of a test server that runs elsewhere: `serve --control`, or `startServer({ control: { token } })` in another process.
 *
 * @example
 * const server = connectTestServer({ url: process.env.TINKEX_TESTKIT_URL, token: process.env.TINKEX_TESTKIT_TOKEN, scope: 'checkout' });
 * await server.on('asample').once().reply(429, { retryAfterMs: 10 });
 */
export function connectTestServer({ url, token, scope }: ConnectOptions): RemoteServer {
  const address = { url: url.replace(/\/+$/, ''), token, scope };
  return new RemoteServer(() => address);
}
