import { type HttpHandler, http } from 'msw';
import { answerFetch } from '../server/fetch-front.js';
import type { TestServer } from '../server/test-server.js';

/** Options of {@link handlers}. */
export interface HandlersOptions {
  /** The base URL that the code under test calls. Default: the server's own `url`. */
  readonly baseUrl?: string | undefined;
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
  const own = new URL(server.url);
  // Normalized as the URLs of requests are: the host in lower case, no default port.
  const given = new URL(options.baseUrl ?? server.url);
  const ownPath = pathOf(own);
  const givenPath = pathOf(given);
  const targetOf = (target: string): string =>
    target.startsWith(`${givenPath}/`) ? `${ownPath}${target.slice(givenPath.length)}` : target;
  const patterns = new Set([`${given.origin}${givenPath}/*`, `${own.origin}/*`]);
  return [...patterns].map((pattern) =>
    http.all(pattern, async ({ request }) => {
      const isGiven = new URL(request.url).origin === given.origin;
      try {
        return await answerFetch(server, request, isGiven ? targetOf : undefined);
      } catch (error) {
        if (error instanceof TypeError || request.signal.aborted) {
          // A broken connection: msw turns it into a network error. A caller who has aborted already has the error from `fetch`.
          return Response.error();
        }
        throw error;
      }
    }),
  );
}

function pathOf({ pathname }: URL): string {
  return pathname.replace(/\/+$/, '');
}
