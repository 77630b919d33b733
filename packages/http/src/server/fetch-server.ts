import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { sendFetchResponse, toFetchRequest } from './fetch-messages.js';
import { isAllowedHost } from './host-names.js';

/** Answers one request. The request's signal aborts when the client hangs up. */
export type FetchHandler = (request: Request) => Response | Promise<Response>;

/** Where {@link startFetchServer} listens, and whom it answers. */
export interface FetchServerOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`: only programs on this machine reach the server. */
  readonly host?: string | undefined;
  /** Names that requests may use for this server, beside the loopback names and `host`. `*` allows every name. Default: none. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** How long a client may take to send its headers. Default 10,000. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long a client may take to send a whole request. Default 60,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Whether the server keeps the process running. Default true. */
  readonly keepsAlive?: boolean | undefined;
}

/** A running server. */
export interface FetchServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:49152`. */
  readonly url: string;
  readonly port: number;
  /** Stops listening and ends every connection. Idempotent. */
  close(): Promise<void>;
}

/** Serves a fetch-style handler over HTTP, by default on loopback. Rejects when the port is taken. */
export async function startFetchServer(handler: FetchHandler, options: FetchServerOptions = {}): Promise<FetchServer> {
  const { port: wanted = 0, host = '127.0.0.1', allowedHosts = [], headersTimeoutMs = 10_000, requestTimeoutMs = 60_000 } = options;
  const allowed = [...allowedHosts, host];
  const sockets = new Set<Socket>();
  const server = createServer({ headersTimeout: headersTimeoutMs, requestTimeout: requestTimeoutMs }, (request, response) => {
    void answer(handler, allowed, request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen({ port: wanted, host });
  await once(server, 'listening');
  if (options.keepsAlive === false) server.unref();
  const { port } = server.address() as AddressInfo;

  async function close(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port, close, [Symbol.asyncDispose]: close };
}

async function answer(
  handler: FetchHandler,
  allowed: readonly string[],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort(new Error('The client closed the connection.')));
  let response: Response;
  try {
    response = isAllowedHost(incoming.headers.host, allowed)
      ? await handler(toFetchRequest(incoming, { signal: gone.signal }))
      : plain(403, 'This server does not answer under that host name. Add the name to allowedHosts if it is yours.');
  } catch {
    response = plain(500, 'The server failed to answer.');
  }
  await sendFetchResponse(response, incoming, outgoing);
}

function plain(status: number, message: string): Response {
  return new Response(`${message}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}
