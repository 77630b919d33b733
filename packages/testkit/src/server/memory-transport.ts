import type { Transport, TransportBody, TransportRequest } from '@tinkex/http';
import { AbortedError, ConnectionError, TinkexError, ValidationError } from '@tinkex/types';
import { bytesOf, type ServerRequest } from '../requests/message.js';
import type { FetchServed } from './fetch-front.js';
import type { CallErrors, MemoryBody, MemoryConnection } from './memory-connections.js';

/** The errors of a transport. The pipeline aborts with the error it wants to see, such as a timeout; anything else is a plain abort. */
const TRANSPORT_ERRORS: CallErrors = {
  lost: () => connectionError('The connection was reset.', 'ECONNRESET'),
  aborted: ({ reason }) =>
    TinkexError.isInstance(reason) ? reason : new AbortedError({ message: 'The call was aborted.', cause: reason }),
};

/** What {@link memoryTransport} needs of a server: a `TestServer` or a `ReplayServer`. */
export interface MemoryServed extends FetchServed {
  readonly url: string;
}

/**
 * A transport for `@tinkex/http` that answers in process: no sockets, the same handler, the same faults. Socket faults become
 * the errors of a real transport. Works with every server of this package, with or without a socket.
 */
export function memoryTransport(server: MemoryServed): Transport {
  let isClosed = false;
  return {
    async send(request) {
      if (isClosed || server.isRefusing) throw connectionError(`Could not connect to ${server.url}: connection refused.`, 'ECONNREFUSED');
      if (request.signal?.aborted) throw TRANSPORT_ERRORS.aborted(request.signal);
      const connection = server.connections.open(request.signal, TRANSPORT_ERRORS);
      const reply = await connection.whileOpen(Promise.resolve(server.answer(toServerRequest(request, connection))));
      const { headers, body } = await connection.receive(reply);
      return { status: reply.status, headers, body: transportBody(body) };
    },
    async close() {
      isClosed = true;
    },
  };
}

function toServerRequest(request: TransportRequest, { onAbort }: MemoryConnection): ServerRequest {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  return { method, target: `${pathname}${search}`, headers, body: bytesOf(request.body ?? ''), onAbort };
}

function transportBody(body: Uint8Array | MemoryBody): TransportBody {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    if (body instanceof Uint8Array) yield body;
    else for (let piece = await body.next(); !piece.done; piece = await body.next()) yield piece.value;
  }
  return {
    async bytes(maxBytes = Number.POSITIVE_INFINITY) {
      if (body instanceof Uint8Array) return limited(body, body.length, maxBytes);
      const read: Uint8Array[] = [];
      let size = 0;
      for await (const piece of pieces()) {
        size += piece.length;
        read.push(limited(piece, size, maxBytes));
      }
      return Buffer.concat(read);
    },
    cancel: () => undefined,
    [Symbol.asyncIterator]: pieces,
  };
}

function limited(bytes: Uint8Array, size: number, maxBytes: number): Uint8Array {
  if (size <= maxBytes) return bytes;
  const issues = [{ path: '', message: `is larger than ${maxBytes} bytes` }];
  throw new ValidationError({ direction: 'response', subject: 'response body', issues });
}

function connectionError(message: string, code: string): ConnectionError {
  return new ConnectionError({ message, cause: Object.assign(new Error(code), { code }) });
}
