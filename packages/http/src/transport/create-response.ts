import { stringifyJson } from '@tinkex/types/wire';
import { oversizedBody } from './body-size.js';
import type { TransportBody, TransportResponse } from './transport.js';

/** What `createResponse` makes a response of. */
export interface ResponseInit {
  readonly status?: number;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes or text are sent as they are, anything else as JSON. */
  readonly body?: unknown;
}

/** A response made in this process: for middleware that answers by itself, and for transports of tests. */
export function createResponse({ status = 200, headers = {}, body }: ResponseInit = {}): TransportResponse {
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const content = isRaw ? body : stringifyJson(body as Parameters<typeof stringifyJson>[0]);
  const bytes = content instanceof Uint8Array ? content : new TextEncoder().encode(content ?? '');
  const type = isRaw ? {} : { 'content-type': 'application/json' };
  return { status, headers: { 'content-length': String(bytes.byteLength), ...type, ...headers }, body: memoryBody(bytes) };
}

function memoryBody(bytes: Uint8Array): TransportBody {
  return {
    async bytes(maxBytes = Number.POSITIVE_INFINITY) {
      if (bytes.byteLength > maxBytes) throw oversizedBody(maxBytes);
      return bytes;
    },
    cancel() {
      // Nothing is held.
    },
    async *[Symbol.asyncIterator]() {
      yield bytes;
    },
  };
}
