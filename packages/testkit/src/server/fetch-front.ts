import { dripped } from '../faults/drip.js';
import { corrupted } from '../faults/fault.js';
import type { ServerReply, ServerRequest } from '../requests/message.js';
import type { MemoryConnections } from './memory-connections.js';

const EMPTY = new Uint8Array(0);
/** Statuses whose `Response` must not have a body. */
const BODILESS = new Set([204, 205, 304]);

/** What this front needs of a server. */
export interface FetchServed {
  readonly connections: MemoryConnections;
  readonly isRefusing: boolean;
  answer(request: ServerRequest): ServerReply | Promise<ServerReply>;
}

/**
 * Answers one fetch request. A fault becomes what `fetch` makes of it: a rejection, a body that breaks off, or damaged bytes.
 * `targetOf` turns the path and query that were asked for into the server's own.
 */
export async function answerFetch(
  server: FetchServed,
  request: Request,
  targetOf: (target: string) => string = (target) => target,
): Promise<Response> {
  request.signal.throwIfAborted();
  if (server.isRefusing) throw fetchFailed('fetch failed', 'ECONNREFUSED', 'The connection was refused');
  const { connections } = server;
  const { pathname, search } = new URL(request.url);
  const incoming: ServerRequest = {
    method: request.method,
    target: targetOf(`${pathname}${search}`),
    headers: Object.fromEntries(request.headers),
    body: request.body === null ? EMPTY : new Uint8Array(await request.arrayBuffer()),
    onAbort: connections.departures(request.signal),
  };
  const answer = connections.until(Promise.resolve(server.answer(incoming)), connectionReset);
  const departure = aborted(request.signal);
  const reply = await Promise.race([answer, departure]);
  return toResponse(reply, connections, departure);
}

/** `departure` rejects when the caller aborts. */
async function toResponse(reply: ServerReply, connections: MemoryConnections, departure: Promise<never>): Promise<Response> {
  const bytes = typeof reply.body === 'string' ? new TextEncoder().encode(reply.body) : reply.body;
  const init = { status: reply.status, headers: { ...reply.headers, 'content-length': String(bytes.length) } };
  const half = bytes.subarray(0, bytes.length >> 1);
  const silence = (): Promise<never> => connections.until(departure, connectionReset);
  switch (reply.fault?.kind) {
    case undefined:
      return new Response(BODILESS.has(reply.status) ? null : bytes, init);
    case 'drip': {
      const pieces = dripped(bytes, reply.fault, connections.clock);
      return new Response(streamed({ next: () => Promise.race([connections.until(pieces.next(), connectionReset), departure]) }), init);
    }
    case 'corrupt':
      return new Response(corrupted(bytes), init);
    case 'stall':
      return silence();
    case 'stall-body':
      return new Response(streamed(brokenOff(half, silence)), init);
    case 'reset-body':
    case 'truncate':
      return new Response(
        streamed(brokenOff(half, () => Promise.reject(fetchFailed('terminated', 'ECONNRESET', 'The connection was reset')))),
        init,
      );
    default:
      throw connectionReset();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason);
    if (signal.aborted) {
      fail();
    } else {
      signal.addEventListener('abort', fail, { once: true });
    }
  });
}

async function* brokenOff(begin: Uint8Array, fail: () => Promise<never>): AsyncGenerator<Uint8Array> {
  if (begin.length > 0) yield begin;
  await fail();
}

function streamed(pieces: Pick<AsyncIterator<Uint8Array>, 'next'>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) {
        controller.close();
      } else {
        controller.enqueue(value);
      }
    },
  });
}

function connectionReset(): TypeError {
  return fetchFailed('fetch failed', 'ECONNRESET', 'The connection was reset');
}

function fetchFailed(message: string, code: string, reason: string): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(reason), { code }) });
}
