import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@tinkex/http';
import type { ServerReply } from '../requests/message.js';
import { corrupted, type FaultPlan } from './fault.js';

const RESET_DELAY_MS = 5;

/** Writes a reply to the socket the way the fault says. */
export function deliverDamaged(response: ServerResponse, reply: ServerReply, plan: FaultPlan, clock: Clock): void {
  const { socket } = response;
  if (socket === null || socket.destroyed) return;
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
  const head = headOf(reply, body.length);
  const half = body.subarray(0, body.length >> 1);
  switch (plan.kind) {
    case 'close':
      socket.end();
      return;
    case 'reset':
      reset(socket);
      return;
    case 'stall':
      return;
    case 'reset-headers':
      socket.write(head.slice(0, Math.ceil(head.length / 2)), () => resetSoon(socket));
      return;
    case 'reset-body':
      socket.write(Buffer.concat([Buffer.from(head), half]), () => resetSoon(socket));
      return;
    case 'stall-body':
      socket.write(Buffer.concat([Buffer.from(head), half]));
      return;
    case 'truncate':
      socket.end(Buffer.concat([Buffer.from(head), half]));
      return;
    case 'corrupt': {
      const damaged = corrupted(reply.body);
      response.writeHead(reply.status, { ...reply.headers, 'content-length': String(damaged.length) });
      response.end(damaged);
      return;
    }
    case 'drip':
      response.writeHead(reply.status, { ...reply.headers, 'content-length': String(body.length) });
      drip(response, body, plan, clock);
  }
}

/**
 * Ends a connection with a TCP reset. `resetAndDestroy()` alone ends it in order first when something was written; the flag it sets makes
 * `destroy()` reset at once.
 */
export function reset(socket: Socket): void {
  (socket as Socket & { resetAndClosing?: boolean | undefined }).resetAndClosing = true;
  socket.destroy();
}

/**
 * Gives the peer time to read what was written: a reset that overtakes it is reported by some systems as an orderly end. Real time,
 * because the network has no other.
 */
function resetSoon(socket: Socket): void {
  setTimeout(reset, RESET_DELAY_MS, socket).unref();
}

function drip(response: ServerResponse, body: Uint8Array, { dripBytes = 16, dripMs = 5 }: FaultPlan, clock: Clock): void {
  let offset = 0;
  const next = (): void => {
    if (response.destroyed) return;
    const piece = body.subarray(offset, offset + dripBytes);
    offset += piece.length;
    if (offset >= body.length) {
      response.end(piece);
      return;
    }
    response.write(piece);
    clock.setTimeout(next, dripMs);
  };
  next();
}

function headOf(reply: ServerReply, length: number): string {
  const headers = Object.entries({ ...reply.headers, 'content-length': String(Math.max(length, 2)) });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}\r\n${lines}\r\n`;
}
