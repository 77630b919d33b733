import type { Transport, TransportBody, TransportRequest, TransportResponse } from '@tinkex/http';
import { AbortedError, ConnectionError, TinkexError, ValidationError } from '@tinkex/types';
import { dripped } from '../faults/drip.js';
import { corrupted } from '../faults/fault.js';
import type { ServerReply, ServerRequest } from '../requests/message.js';
import type { MemoryConnections } from './memory-connections.js';
import type { TestServer } from './test-server.js';

/**
 * A transport for `@tinkex/http` that answers in process: no sockets, the same handler, the same faults. Socket faults become
 * the errors a real transport makes of them. Works with `createTestServer()` and `startServer()` alike.
 */
export function memoryTransport(server: TestServer): Transport {
  let isClosed = false;
  return {
    async send(request) {
      if (isClosed || server.isRefusing) {
        throw new ConnectionError({
          message: `Could not connect to ${server.url}: connection refused`,
          cause: connectionCause('ECONNREFUSED'),
        });
      }
      throwIfAborted(request.signal);
      const answer = Promise.resolve(server.answer(toServerRequest(request, server)));
      const reply = await untilAborted(server.connections.until(answer, connectionLost), request.signal);
      return toTransportResponse(reply, server.connections, request.signal);
    },
    async close() {
      isClosed = true;
    },
  };
}

function toServerRequest(request: TransportRequest, { connections }: TestServer): ServerRequest {
  const { pathname, search } = new URL(request.url);
  const body = request.body ?? '';
  return {
    method: request.method,
    target: `${pathname}${search}`,
    headers: request.headers,
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    onAbort: connections.departures(request.signal),
  };
}

async function toTransportResponse(
  reply: ServerReply,
  connections: MemoryConnections,
  signal: AbortSignal | undefined,
): Promise<TransportResponse> {
  const bytes = typeof reply.body === 'string' ? new TextEncoder().encode(reply.body) : reply.body;
  const head = { status: reply.status, headers: { ...reply.headers, 'content-length': String(bytes.length) } };
  const half = bytes.subarray(0, bytes.length >> 1);
  const untilGone = <T>(work: Promise<T>): Promise<T> => untilAborted(connections.until(work, connectionLost), signal);
  const silence = (): Promise<never> => untilGone(new Promise<never>(() => undefined));
  switch (reply.fault?.kind) {
    case undefined:
      return { ...head, body: wholeBody(bytes) };
    case 'drip': {
      const pieces = dripped(bytes, reply.fault, connections.clock);
      const next = (): Promise<IteratorResult<Uint8Array>> => untilGone(pieces.next());
      return { ...head, body: bodyOf({ [Symbol.asyncIterator]: () => ({ next }) }) };
    }
    case 'corrupt':
      return { ...head, body: wholeBody(corrupted(bytes)) };
    case 'stall':
      return silence();
    case 'stall-body':
      return { ...head, body: bodyOf(brokenOff(half, silence)) };
    case 'reset-body':
    case 'truncate':
      return { ...head, body: bodyOf(brokenOff(half, () => Promise.reject(connectionLost()))) };
    default:
      throw connectionLost();
  }
}

function wholeBody(bytes: Uint8Array): TransportBody {
  return {
    async bytes(maxBytes = Number.POSITIVE_INFINITY) {
      checkSize(bytes.length, maxBytes);
      return bytes;
    },
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield bytes;
    },
  };
}

function bodyOf(pieces: AsyncIterable<Uint8Array>): TransportBody {
  return {
    async bytes(maxBytes = Number.POSITIVE_INFINITY) {
      const read: Uint8Array[] = [];
      let size = 0;
      for await (const piece of pieces) {
        size += piece.length;
        checkSize(size, maxBytes);
        read.push(piece);
      }
      return Buffer.concat(read);
    },
    cancel: () => undefined,
    [Symbol.asyncIterator]: () => pieces[Symbol.asyncIterator](),
  };
}

function checkSize(size: number, maxBytes: number): void {
  if (size > maxBytes) {
    const issues = [{ path: '', message: `is larger than ${maxBytes} bytes` }];
    throw new ValidationError({ direction: 'response', subject: 'response body', issues });
  }
}

async function* brokenOff(begin: Uint8Array, fail: () => Promise<never>): AsyncGenerator<Uint8Array> {
  yield begin;
  await fail();
}

function connectionLost(): ConnectionError {
  return new ConnectionError({ message: 'The connection was reset', cause: connectionCause('ECONNRESET') });
}

function connectionCause(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

/** The pipeline aborts with the error it wants to see, such as a timeout; anything else is a plain abort. */
function abortError({ reason }: AbortSignal): Error {
  return TinkexError.isInstance(reason) ? reason : new AbortedError({ message: 'The call was aborted', cause: reason });
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortError(signal));
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
