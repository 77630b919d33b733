import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

/** What {@link toFetchRequest} adds to a request of Node. */
export interface FetchRequestOptions {
  /** Aborts when the client hangs up. */
  readonly signal: AbortSignal;
  /** The body, if it was read already. Default: it is streamed. */
  readonly body?: Uint8Array | undefined;
}

/** A request of a Node server as a fetch request. Throws a `TypeError` for an address or a method that fetch does not know. */
export function toFetchRequest(incoming: IncomingMessage, { signal, body }: FetchRequestOptions): Request {
  const { method = 'GET', url = '/', headers } = incoming;
  const origin = `http://${headers.host ?? 'localhost'}`;
  const entries = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]));
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const content = hasBody ? { body: body ?? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>), duplex: 'half' as const } : {};
  // Joined, not resolved: to resolve `//name/path` would let the path say which host the request is for.
  return new Request(new URL(url.startsWith('/') ? origin + url : url, origin), { method, headers: entries, signal, ...content });
}

/** Writes a fetch response at the pace of its reader, and stops producing it when the reader is gone. */
export async function sendFetchResponse(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  // A body that was refused is not read to its end: the connection ends instead.
  const isCutOff = !incoming.complete;
  if (isCutOff) outgoing.setHeader('connection', 'close');
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  // The answer to HEAD has no body, and an endless one would keep it from ending.
  if (incoming.method === 'HEAD') await response.body?.cancel().catch(() => undefined);
  else if (response.body !== null) await pump(response.body, outgoing);
  outgoing.end(() => {
    if (isCutOff) incoming.socket.destroySoon();
  });
}

async function pump(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  try {
    for await (const chunk of body as unknown as NodeReadableStream<Uint8Array>) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(chunk)) await drained(outgoing);
    }
  } catch {
    // The headers are out: only a broken connection can still say that the body is incomplete.
    outgoing.destroy();
  }
}

/** Waits until there is room for more, or the reader is gone. */
async function drained(outgoing: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.once('drain', done).once('close', done);
  });
}
