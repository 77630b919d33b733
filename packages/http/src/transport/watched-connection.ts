import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

const CONTINUE = new TextEncoder().encode('HTTP/1.1 100');
const [BLANK, RETURN] = [0x20, 0x0d];
const END_OF_HEAD = '\r\n\r\n';
/** Node's own limit for the head of a message. */
const MAX_HEAD_BYTES = 16 * 1024;

/** What was known of a connection when it failed. */
interface Failed {
  /** Whether it had answered before. */
  readonly hasServed: boolean;
  /** Whether a request was on its way, and no byte of its answer had come. */
  readonly isUnanswered: boolean;
}

const failedConnections = new WeakMap<object, Failed>();

/**
 * Whether this fault ended a kept connection, and the request got nothing from it: the server had closed it while it was idle. `error` is what
 * undici reports.
 *
 * @param isSent - Whether the request had been written to it. A reset of an idle connection also fails the request that waits for it.
 */
export function isClosedConnection(error: Error, isSent: boolean): boolean {
  const failed = failedConnections.get(error);
  return failed?.hasServed === true && (failed.isUnanswered || !isSent);
}

/**
 * Watches the connections that a connector opens. undici does not report to a handler on which connection a request is sent and what has come on
 * it, and takes an unrequested `100 Continue` for a broken answer; both can be seen only at the socket.
 */
export function watched(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      // HTTP/2 has its own frames.
      if (socket && (socket as { alpnProtocol?: unknown }).alpnProtocol !== 'h2') watch(socket);
      callback(...result);
    });
}

function watch(socket: Socket): void {
  const { write, read } = socket;
  let isAnswerDue = false;
  let bytesBefore = 0;
  let held: Uint8Array | undefined;

  socket.write = (...part: unknown[]): boolean => {
    if (!isAnswerDue) {
      isAnswerDue = true;
      bytesBefore = socket.bytesRead;
    }
    return Reflect.apply(write, socket, part) as boolean;
  };

  socket.read = (size?: number): unknown => {
    while (isAnswerDue) {
      const chunk = read.call(socket, size) as Uint8Array | null;
      if (chunk === null) return null;
      const answer = afterContinue(held === undefined ? chunk : Buffer.concat([held, chunk]));
      held = answer.isOpen ? answer.bytes : undefined;
      if (answer.isOpen || answer.bytes.byteLength === 0) continue;
      isAnswerDue = false;
      return answer.bytes;
    }
    return read.call(socket, size);
  };

  socket.on('error', (error) => {
    const { bytesRead } = socket;
    const hasServed = isAnswerDue ? bytesBefore > 0 : bytesRead > 0;
    failedConnections.set(error, { hasServed, isUnanswered: isAnswerDue && bytesRead === bytesBefore });
  });
}

/** The bytes after any `100 Continue`. They are open while they may still become one. */
function afterContinue(received: Uint8Array): { readonly bytes: Uint8Array; readonly isOpen: boolean } {
  let bytes = received;
  for (;;) {
    const known = Math.min(bytes.byteLength, CONTINUE.byteLength);
    for (let index = 0; index < known; index += 1) if (bytes[index] !== CONTINUE[index]) return { bytes, isOpen: false };
    if (bytes.byteLength <= known) return { bytes, isOpen: known > 0 };
    // 1000 is something else.
    if (bytes[known] !== BLANK && bytes[known] !== RETURN) return { bytes, isOpen: false };
    const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(END_OF_HEAD);
    if (end === -1) return { bytes, isOpen: bytes.byteLength < MAX_HEAD_BYTES };
    bytes = bytes.subarray(end + END_OF_HEAD.length);
  }
}
