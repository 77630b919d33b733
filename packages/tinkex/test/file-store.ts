import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of one file, such as an object store, that can break off in the middle. */
export interface FileStore extends AsyncDisposable {
  readonly url: string;
  /** The first byte that each request asked for. */
  readonly starts: readonly number[];
  /** What happens to the next requests, in order; then they are answered. `half` sends a half and resets, `stuck` sends a half and waits. */
  readonly plan: ('half' | 'stuck')[];
  /** Resolves when a request is stuck. */
  readonly stuck: Promise<void>;
}

/** Starts it on loopback, with ranges and an entity tag. */
export async function startFileStore(content: Uint8Array): Promise<FileStore> {
  const starts: number[] = [];
  const plan: ('half' | 'stuck')[] = [];
  let noteStuck: () => void = () => undefined;
  const stuck = new Promise<void>((resolve) => {
    noteStuck = resolve;
  });
  const server = createServer((request, response: ServerResponse) => {
    const start = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    starts.push(start);
    const total = content.byteLength;
    const headers = { etag: '"one"', 'accept-ranges': 'bytes' };
    if (start >= total) {
      response.writeHead(416, { ...headers, 'content-range': `bytes */${total}` }).end();
      return;
    }
    const range = request.headers.range === undefined ? {} : { 'content-range': `bytes ${start}-${total - 1}/${total}` };
    response.writeHead(request.headers.range === undefined ? 200 : 206, { ...headers, ...range, 'content-length': total - start });
    const next = plan.shift();
    if (next === undefined) {
      response.end(content.subarray(start));
      return;
    }
    response.write(content.subarray(start, start + (total - start) / 2), () => {
      if (next === 'half') response.destroy();
      else noteStuck();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/adapter`,
    starts,
    plan,
    stuck,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
