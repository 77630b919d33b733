import type { Transport, TransportBody, TransportRequest, TransportResponse } from '@tinkex/http';
import { AbortedError, ConnectionError, TinkexError, ValidationError } from '@tinkex/types';
import type { ServerReply, ServerRequest } from '../exchange/message.js';
import { corrupted } from '../faults/fault.js';
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
      const reply = await untilAborted(Promise.resolve(server.answer(toServerRequest(request))), request.signal);
      return toTransportResponse(reply, request.signal);
    },
    async close() {
      isClosed = true;
    },
  };
}

function toServerRequest(request: TransportRequest): ServerRequest {
  const { pathname, search } = new URL(request.url);
  const body = request.body ?? '';
  const { signal } = request;
  return {
    method: request.method,
    target: `${pathname}${search}`,
    headers: request.headers,
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    onAbort(listener) {
      signal?.addEventListener('abort', listener, { once: true });
      return () => signal?.removeEventListener('abort', listener);
    },
  };
}

async function toTransportResponse(reply: ServerReply, signal: AbortSignal | undefined): Promise<TransportResponse> {
  const bytes = typeof reply.body === 'string' ? new TextEncoder().encode(reply.body) : reply.body;
  const head = { status: reply.status, headers: { ...reply.headers, 'content-length': String(bytes.length) } };
  switch (reply.fault?.kind) {
    case undefined:
    case 'drip':
      return { ...head, body: wholeBody(bytes) };
    case 'corrupt':
      return { ...head, body: wholeBody(corrupted(bytes)) };
    case 'stall':
      return untilAborted(new Promise<never>(() => undefined), signal);
    case 'stall-body':
      return { ...head, body: brokenBody(bytes, () => untilAborted(new Promise<never>(() => undefined), signal)) };
    case 'reset-body':
    case 'truncate':
      return { ...head, body: brokenBody(bytes, () => Promise.reject(connectionLost())) };
    default:
      throw connectionLost();
  }
}

function wholeBody(bytes: Uint8Array): TransportBody {
  return {
    async bytes(maxBytes = Number.POSITIVE_INFINITY) {
      if (bytes.length > maxBytes) {
        const issues = [{ path: '', message: `is larger than ${maxBytes} bytes` }];
        throw new ValidationError({ direction: 'response', subject: 'response body', issues });
      }
      return bytes;
    },
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield bytes;
    },
  };
}

function brokenBody(bytes: Uint8Array, fail: () => Promise<never>): TransportBody {
  return {
    bytes: fail,
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield bytes.subarray(0, bytes.length >> 1);
      await fail();
    },
  };
}

function connectionLost(): ConnectionError {
  return new ConnectionError({ message: 'The connection was reset', cause: connectionCause('ECONNRESET') });
}

function connectionCause(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw abortError(signal);
  }
}

/** The pipeline aborts with the error it wants to see, such as a timeout; anything else is a plain abort. */
function abortError({ reason }: AbortSignal): Error {
  return TinkexError.isInstance(reason) ? reason : new AbortedError({ message: 'The call was aborted', cause: reason });
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) {
    return promise;
  }
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
