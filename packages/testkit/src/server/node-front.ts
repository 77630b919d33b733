import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '@tinkex/http';
import { errorReply, type ServerReply, type ServerRequest } from '../requests/message.js';
import { hostRefused, isAllowedHost } from './allowed-hosts.js';
import type { OtherFront } from './other-requests.js';
import { deliverDamaged, resetConnection } from './socket-delivery.js';

const EMPTY = new Uint8Array(0);
/** How long a client may read the answer to a request that was cut off. */
const LINGER_MS = 1_000;

/** What the front needs of the core. */
export interface FrontHandler {
  readonly clock: Clock;
  readonly maxBodyBytes: number;
  /** Host names that requests may name, in addition to addresses and `localhost`; undefined for any. */
  readonly allowedHosts: readonly string[] | undefined;
  /** How long a client may take for the headers, and for the whole request. 0: forever. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  answer(request: ServerRequest): ServerReply | Promise<ServerReply>;
  tooLarge(request: ServerRequest): ServerReply;
  /** Comes before `answer`. Undefined if the server has only its own paths. */
  readonly answerOther?: OtherFront | undefined;
}

/** How often Node looks for requests that take too long. */
const TIMEOUT_CHECK_MS = 1_000;

/** The core behind real sockets: reads a body, writes a reply, and damages the delivery when the reply has a fault. */
export class NodeFront {
  readonly #handler: FrontHandler;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #port = 0;
  #host = '127.0.0.1';

  constructor(handler: FrontHandler) {
    this.#handler = handler;
    const { headersTimeoutMs: headersTimeout, requestTimeoutMs: requestTimeout } = handler;
    const limits = {
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, headersTimeout || TIMEOUT_CHECK_MS),
    };
    this.#server = createServer({ keepAliveTimeout: 60_000, ...limits }, (request, response) => {
      if (isAllowedHost(request.headers.host, handler.allowedHosts)) this.#serve(request, response);
      else this.#cutOff(request, response, errorReply(421, hostRefused(request.headers.host)));
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      // Peers reset connections all the time here; without a listener the error would end the process.
      socket.on('error', () => socket.destroy());
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  get port(): number {
    return this.#port;
  }

  /** Connections open now. */
  get openSockets(): number {
    return this.#sockets.size;
  }

  async listen(port: number, host: string): Promise<void> {
    this.#host = host;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, host, backlog: 4096 }, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#port = (this.#server.address() as AddressInfo).port;
    this.#server.unref();
  }

  /** Stops listening and drops every connection: the operating system refuses new ones. */
  async refuseConnections(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.dropConnections();
    await closed;
  }

  /** Listens on the same port again. */
  async acceptConnections(): Promise<void> {
    if (!this.#server.listening) await this.listen(this.#port, this.#host);
  }

  /** Ends every open connection with a reset. */
  dropConnections(): void {
    for (const socket of this.#sockets) resetConnection(socket);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { maxBodyBytes } = this.#handler;
    let first: Buffer | undefined;
    let rest: Buffer[] | undefined;
    let size = 0;
    const refuseBody = (): void => {
      this.#cutOff(request, response, this.#handler.tooLarge(toServerRequest(request, response, EMPTY)));
    };
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
      refuseBody();
      return;
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) {
        if (size - chunk.length <= maxBodyBytes) refuseBody();
        return;
      }
      if (first === undefined) {
        first = chunk;
      } else if (rest === undefined) {
        rest = [first, chunk];
      } else {
        rest.push(chunk);
      }
    });
    request.on('end', () => {
      if (size > maxBodyBytes) return;
      const body = rest === undefined ? (first ?? EMPTY) : Buffer.concat(rest);
      if (this.#handler.answerOther?.(request, response, body) === true) return;
      const reply = this.#handler.answer(toServerRequest(request, response, body));
      if (reply instanceof Promise) {
        // `answer` never rejects: it turns every failure into a reply.
        void reply.then((settled) => this.#send(response, settled));
      } else {
        this.#send(response, reply);
      }
    });
  }

  /** Answers without reading the rest of the request, then ends the connection. */
  #cutOff(request: IncomingMessage, response: ServerResponse, reply: ServerReply): void {
    request.removeAllListeners('data');
    request.pause();
    response.once('finish', () => request.socket.end());
    // A client that keeps sending and never reads the answer does not hold the connection.
    setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
    reply.headers['connection'] = 'close';
    this.#send(response, reply);
  }

  #send(response: ServerResponse, reply: ServerReply): void {
    if (response.destroyed) return;
    if (reply.fault !== undefined) {
      void deliverDamaged(response, reply, reply.fault, { clock: this.#handler.clock, dropConnections: () => this.dropConnections() });
      return;
    }
    const { status, headers, body } = reply;
    headers['content-length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.length);
    response.writeHead(status, headers);
    response.end(body);
  }
}

function toServerRequest(request: IncomingMessage, response: ServerResponse, body: Uint8Array): ServerRequest {
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: request.headers as Readonly<Record<string, string | undefined>>,
    body,
    peer: request.socket.remoteAddress,
    onAbort(listener) {
      response.once('close', listener);
      return () => response.off('close', listener);
    },
  };
}
