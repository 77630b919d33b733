import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on loopback that answers by a function. */
export interface Loopback extends AsyncDisposable {
  readonly url: string;
  /** Bodies of the requests so far, by path. */
  readonly bodies: Map<string, string[]>;
}

export type Answer = (path: string, body: string, request: IncomingMessage) => { readonly status?: number; readonly body?: unknown };

/** Starts it on a free port. */
export async function startLoopback(answer: Answer): Promise<Loopback> {
  const bodies = new Map<string, string[]>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const text = Buffer.concat(parts).toString();
      bodies.set(path, [...(bodies.get(path) ?? []), text]);
      const { status = 200, body = {} } = answer(path, text, request);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
