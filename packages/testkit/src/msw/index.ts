import { type HttpHandler, http } from 'msw';
import { fromFetchRequest, toFetchResponse } from '../server/fetch-front.js';
import type { TestServer } from '../server/test-server.js';

/** Options of {@link handlers}. */
export interface HandlersOptions {
  /** The base URL that the code under test calls. Default: the server's own `url`. */
  readonly baseUrl?: string;
}

/**
 * Handlers for msw that answer with a test server, for code that uses the global `fetch` or `node:http`. (msw does not see
 * undici's own `request`; use `memoryTransport(server)` or `startServer()` there.)
 *
 * @example
 * const server = createTestServer();
 * const network = setupServer(...handlers(server, { baseUrl: 'https://tinker.example' }));
 */
export function handlers(server: TestServer, options: HandlersOptions = {}): HttpHandler[] {
  const own = server.url.replace(/\/+$/, '');
  const given = (options.baseUrl ?? own).replace(/\/+$/, '');
  const ownPath = new URL(own).pathname.replace(/\/+$/, '');
  const givenPath = new URL(given).pathname.replace(/\/+$/, '');
  const origins = new Set([`${given}/*`, `${new URL(own).origin}/*`]);
  return [...origins].map((pattern) =>
    http.all(pattern, async ({ request }) => {
      const incoming = await fromFetchRequest(request);
      const isGiven = request.url.startsWith(`${given}/`);
      const target = isGiven ? `${ownPath}${incoming.target.slice(givenPath.length)}` : incoming.target;
      try {
        return await toFetchResponse(await server.answer({ ...incoming, target }), request.signal);
      } catch (error) {
        if (error instanceof TypeError) {
          // A broken connection: msw makes a network error of it.
          return Response.error();
        }
        throw error;
      }
    }),
  );
}
