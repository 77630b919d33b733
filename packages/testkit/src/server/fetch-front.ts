import type { ServerReply, ServerRequest } from '../requests/message.js';
import type { CallErrors, MemoryBody, MemoryConnections } from './memory-connections.js';

const EMPTY = new Uint8Array(0);
/** Statuses whose `Response` must not have a body. */
const BODILESS = new Set([204, 205, 304]);

/** The errors of `fetch`. */
const FETCH_ERRORS: CallErrors = {
  lost: (phase) => fetchFailed(phase === 'head' ? 'fetch failed' : 'terminated', 'ECONNRESET', 'The connection was reset'),
  aborted: ({ reason }) => reason,
};

/** What this front needs of a server. */
export interface FetchServed {
  readonly connections: MemoryConnections;
  readonly isRefusing: boolean;
  answer(request: ServerRequest): ServerReply | Promise<ServerReply>;
}

/**
 * Answers one fetch request. A fault becomes what `fetch` reports: a rejection, a body that breaks off, or damaged bytes.
 * `targetOf` turns the path and query of the request into the server's own.
 */
export async function answerFetch(
  server: FetchServed,
  request: Request,
  targetOf: (target: string) => string = (target) => target,
): Promise<Response> {
  request.signal.throwIfAborted();
  if (server.isRefusing) throw fetchFailed('fetch failed', 'ECONNREFUSED', 'The connection was refused');
  const connection = server.connections.open(request.signal, FETCH_ERRORS);
  const { pathname, search } = new URL(request.url);
  const incoming: ServerRequest = {
    method: request.method,
    target: targetOf(`${pathname}${search}`),
    headers: Object.fromEntries(request.headers),
    body: request.body === null ? EMPTY : new Uint8Array(await request.arrayBuffer()),
    onAbort: connection.onAbort,
  };
  const reply = await connection.whileOpen(Promise.resolve(server.answer(incoming)));
  const { headers, body } = await connection.receive(reply);
  const content = body instanceof Uint8Array ? body : streamOf(body);
  return new Response(BODILESS.has(reply.status) ? null : content, { status: reply.status, headers });
}

function streamOf(body: MemoryBody): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await body.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

function fetchFailed(message: string, code: string, reason: string): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(reason), { code }) });
}
