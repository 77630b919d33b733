import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';

/** A TCP server that does with its sockets exactly what a test says. */
export class RawServer {
  readonly url: string;
  readonly sockets = new Set<Socket>();
  /** Connections accepted so far. */
  connections = 0;
  readonly #server: net.Server;

  private constructor(server: net.Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param onRequest - Called with the whole text of each request that has arrived, and its number on this server from 0. */
  static async start(
    onRequest: (socket: Socket, request: string, index: number) => void,
    onConnection?: (socket: Socket) => void,
  ): Promise<RawServer> {
    let requests = 0;
    const server = net.createServer((socket) => {
      self.connections += 1;
      self.sockets.add(socket);
      socket.on('close', () => self.sockets.delete(socket));
      socket.on('error', () => undefined);
      onConnection?.(socket);
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
        for (let end = endOfRequest(received); end !== undefined; end = endOfRequest(received)) {
          const request = received.slice(0, end);
          received = received.slice(end);
          onRequest(socket, request, requests++);
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const self = new RawServer(server);
    return self;
  }

  /** Waits until the server has no socket left. */
  async drained(): Promise<void> {
    // A connection may still be on its way through the kernel when the others are gone.
    for (let round = 0; round < 1_000 && this.sockets.size > 0; round += 1) {
      await Promise.all([...this.sockets].map((socket) => (socket.closed ? undefined : closed(socket))));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function endOfRequest(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return undefined;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return text.length >= end ? end : undefined;
}

/** The text of a response with a JSON body. */
export function jsonResponse(value: unknown, status = '200 OK', headers: readonly string[] = []): string {
  const body = JSON.stringify(value);
  return [`HTTP/1.1 ${status}`, 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`, ...headers, '', body].join(
    '\r\n',
  );
}

/** Unlike `events.once`, does not mind that the other side may have reset the connection: it is closed either way. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}
