import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';

/** A request as it arrived, byte for byte. */
export interface RawRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** How many requests for this path came before, on any connection. */
  readonly nth: number;
}

/** An HTTP message that is in order. */
export interface Message {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/** The connection on which a request came: the attacker writes to it what he likes. */
export class Wire {
  readonly socket: Socket;
  readonly #onMove: () => void;

  constructor(socket: Socket, onMove: () => void) {
    this.socket = socket;
    this.#onMove = onMove;
  }

  /** Writes bytes as they are; resolves when the system has taken them, or when the other side is gone. */
  write(bytes: string | Uint8Array): Promise<void> {
    this.#onMove();
    return new Promise((resolve) => {
      const moved = (): void => {
        this.#onMove();
        resolve();
      };
      if (this.socket.destroyed) moved();
      else this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, moved);
    });
  }

  /** Writes a message that is in order. */
  send(message: Message): Promise<void> {
    return this.write(encodeMessage(message));
  }

  /** Writes in pieces, each of which leaves before the next is written. */
  async trickle(bytes: Uint8Array, size = 1): Promise<void> {
    this.socket.setNoDelay(true);
    for (let start = 0; start < bytes.length; start += size) {
      await this.write(bytes.subarray(start, start + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Ends the connection properly (FIN). */
  end(): void {
    this.socket.end();
  }

  /** Tears the connection down (RST). */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}

/** Answers one request, or does not. */
export type Handler = (request: RawRequest, wire: Wire) => unknown;

/** A server of bare sockets. It knows HTTP well enough to read requests, and answers with whatever bytes a handler writes. */
export class RawServer implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: RawRequest[] = [];
  readonly sockets = new Set<Socket>();
  /** Connections accepted so far. */
  connections = 0;
  /** Grows whenever a byte arrives or has left. */
  activity = 0;
  readonly #server: net.Server;
  readonly #counts = new Map<string, number>();

  private constructor(server: net.Server, scheme: 'http' | 'https') {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.url = `${scheme}://127.0.0.1:${this.port}`;
  }

  /** @param onConnection - Receives each connection before it is read from; returning false leaves it to that function alone. */
  static async start(
    handler: Handler,
    options: { readonly tls?: tls.TlsOptions; readonly onConnection?: (socket: Socket) => boolean | undefined } = {},
  ): Promise<RawServer> {
    const accept = (socket: Socket): void => {
      self.connections += 1;
      self.activity += 1;
      self.sockets.add(socket);
      socket.on('close', () => self.sockets.delete(socket));
      // The other side may reset a connection as it likes.
      socket.on('error', () => undefined);
      if (options.onConnection?.(socket) === false) return;
      self.#read(socket, handler);
    };
    const server = options.tls === undefined ? net.createServer(accept) : tls.createServer(options.tls, accept);
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const self = new RawServer(server, options.tls === undefined ? 'http' : 'https');
    return self;
  }

  /** The requests for a path that ends like this. */
  to(ending: string): RawRequest[] {
    return this.requests.filter(({ path }) => path.split('?')[0]?.endsWith(ending));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  #read(socket: Socket, handler: Handler): void {
    let received: Buffer = Buffer.alloc(0);
    const move = (): void => {
      this.activity += 1;
    };
    socket.on('data', (chunk: Buffer) => {
      move();
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      for (let end = endOfRequest(received); end !== undefined; end = endOfRequest(received)) {
        const request = this.#parse(received.subarray(0, end));
        received = received.subarray(end);
        this.requests.push(request);
        handler(request, new Wire(socket, move));
      }
    });
  }

  #parse(bytes: Buffer): RawRequest {
    const split = bytes.indexOf('\r\n\r\n');
    const [first = '', ...lines] = bytes.toString('latin1', 0, split).split('\r\n');
    const [method = '', path = ''] = first.split(' ');
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const nth = this.#counts.get(path) ?? 0;
    this.#counts.set(path, nth + 1);
    return { method, path, headers, body: Buffer.from(bytes.subarray(split + 4)), nth };
  }
}

/** The bytes of a message that is in order. */
export function encodeMessage({ status = 200, headers = {}, body = '' }: Message): Buffer {
  const bytes = Buffer.from(body as string);
  const all = { 'content-length': String(bytes.length), ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Reason\r\n${head.join('')}\r\n`, 'latin1'), bytes]);
}

/** A JSON answer that is in order. */
export function jsonMessage(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Message {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

function endOfRequest(bytes: Buffer): number | undefined {
  const head = bytes.indexOf('\r\n\r\n');
  if (head === -1) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return bytes.length >= end ? end : undefined;
}
