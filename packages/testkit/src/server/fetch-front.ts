import type { ServerReply, ServerRequest } from '../exchange/message.js';
import { corrupted } from '../faults/fault.js';

const EMPTY = new Uint8Array(0);
/** Statuses whose `Response` must not have a body. */
const BODILESS = new Set([204, 205, 304]);

/** A fetch `Request` as the core sees it. */
export async function fromFetchRequest(request: Request): Promise<ServerRequest> {
  const { pathname, search } = new URL(request.url);
  const { signal } = request;
  return {
    method: request.method,
    target: `${pathname}${search}`,
    headers: Object.fromEntries(request.headers),
    body: request.body === null ? EMPTY : new Uint8Array(await request.arrayBuffer()),
    onAbort(listener) {
      signal.addEventListener('abort', listener, { once: true });
      return () => signal.removeEventListener('abort', listener);
    },
  };
}

/**
 * A reply as a fetch `Response`. A fault becomes what `fetch` makes of it: a rejection, a body that breaks off, or damaged bytes.
 */
export async function toFetchResponse(reply: ServerReply, signal: AbortSignal): Promise<Response> {
  const bytes = typeof reply.body === 'string' ? new TextEncoder().encode(reply.body) : reply.body;
  const init = { status: reply.status, headers: { ...reply.headers, 'content-length': String(bytes.length) } };
  switch (reply.fault?.kind) {
    case undefined:
    case 'drip':
      return new Response(BODILESS.has(reply.status) ? null : bytes, init);
    case 'corrupt':
      return new Response(corrupted(bytes), init);
    case 'stall':
      return aborted(signal);
    case 'stall-body':
      return new Response(brokenBody(bytes, signal, true), init);
    case 'reset-body':
    case 'truncate':
      return new Response(brokenBody(bytes, signal, false), init);
    default:
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('The connection was reset'), { code: 'ECONNRESET' }) });
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

function brokenBody(bytes: Uint8Array, signal: AbortSignal, isStalled: boolean): ReadableStream<Uint8Array> {
  let hasStarted = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!hasStarted && bytes.length > 1) {
        hasStarted = true;
        controller.enqueue(bytes.subarray(0, bytes.length >> 1));
        return;
      }
      if (isStalled) {
        await aborted(signal);
      }
      controller.error(
        new TypeError('terminated', { cause: Object.assign(new Error('The connection was reset'), { code: 'ECONNRESET' }) }),
      );
    },
  });
}
