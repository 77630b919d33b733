import type { Socket } from 'node:net';

/** One request. Its body is only kept for paths that `needsBody` names. */
export interface CannedRequest {
  readonly method: string;
  readonly path: string;
  /** The head as received: request line and headers. */
  readonly head: string;
  readonly body: string;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/**
 * Reads HTTP/1.1 requests off a socket with as little work as possible: bodies are counted and dropped, except those of paths that `needsBody`
 * names. Requests with a length only: every client that is measured sends one.
 */
export function readRequests(socket: Socket, needsBody: (path: string) => boolean, answer: (request: CannedRequest) => void): void {
  let pending: Buffer = NOTHING;
  let current: { method: string; path: string; head: string; missing: number; parts: Buffer[] | undefined } | undefined;
  socket.on('data', (chunk: Buffer) => {
    let data: Buffer = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    pending = NOTHING;
    for (;;) {
      if (current === undefined) {
        const end = data.indexOf(END_OF_HEAD);
        if (end === -1) {
          pending = data;
          return;
        }
        const head = data.toString('latin1', 0, end);
        data = data.subarray(end + END_OF_HEAD.length);
        const [method = '', path = ''] = head.slice(0, head.indexOf('\r\n')).split(' ', 2);
        const missing = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
        current = { method, path, head, missing, parts: needsBody(path) ? [] : undefined };
      }
      const taken = Math.min(current.missing, data.length);
      current.parts?.push(data.subarray(0, taken));
      current.missing -= taken;
      data = data.subarray(taken);
      if (current.missing > 0) return;
      const { method, path, head, parts } = current;
      current = undefined;
      answer({ method, path, head, body: parts === undefined ? '' : Buffer.concat(parts).toString('latin1') });
      if (data.length === 0) return;
    }
  });
}
