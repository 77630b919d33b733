import type { Transport, TransportResponse } from '@tinkex/http';
import { ConfigurationError } from '@tinkex/types';
import { endpoints, redactText } from '@tinkex/types/wire';
import { errorReply, type ServerReply, type ServerRequest } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';

/** Headers that belong to one connection, or that describe a body that travels on in another form. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'date',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The server that a recorder stands in front of. */
export class Upstream {
  readonly #base: string;
  readonly #timeoutMs: number;
  #transport: Promise<Transport> | undefined;

  /** @throws ConfigurationError when `url` is not an HTTP URL. */
  constructor(url: string, timeoutMs: number) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
      throw new ConfigurationError({
        message: `The upstream must be an HTTP URL without a user name, such as https://host/base, got ${redactText(url)}.`,
        option: 'upstream',
      });
    }
    this.#base = `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`;
    this.#timeoutMs = timeoutMs;
  }

  /** Sends a request on, with the credentials of the client. A server that cannot be reached is a 502. */
  async send(request: ServerRequest, route: RouteName | undefined): Promise<ServerReply & { readonly isFromUpstream: boolean }> {
    const stop = new AbortController();
    const stopListening = request.onAbort?.(() => stop.abort());
    const timer = setTimeout(() => stop.abort(), this.#timeoutMs);
    try {
      this.#transport ??= openTransport();
      const response = await (await this.#transport).send({
        method: request.method,
        url: `${this.#base}${request.target}`,
        headers: passedOn(request.headers),
        body: request.body.length === 0 ? undefined : request.body,
        pool: route === undefined ? 'default' : endpoints[route].pool,
        redirect: 'manual',
        signal: stop.signal,
      });
      return { ...(await replyOf(response)), isFromUpstream: true };
    } catch (error) {
      const reason = redactText(error instanceof Error ? error.message : String(error));
      return { ...errorReply(502, `The upstream did not answer: ${reason}`), isFromUpstream: false };
    } finally {
      clearTimeout(timer);
      stopListening?.();
    }
  }

  async close(): Promise<void> {
    await (await this.#transport)?.close();
  }
}

/** Loaded when it is needed: a server that only replays starts without the network stack. */
async function openTransport(): Promise<Transport> {
  const { UndiciTransport } = await import('@tinkex/http');
  return new UndiciTransport();
}

async function replyOf({ status, headers, body }: TransportResponse): Promise<ServerReply> {
  return { status, headers: passedOn(headers), body: await body.bytes() };
}

function passedOn(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined && !OWN_HEADERS.has(entry[0]));
  return Object.fromEntries(kept);
}
