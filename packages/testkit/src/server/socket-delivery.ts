import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@tinkex/http';
import { deliveredPieces, type FaultPlan, planDelivery } from '../faults/faults.js';
import { bytesOf, type ServerReply } from '../requests/message.js';

const RESET_DELAY_MS = 5;

/** Writes a reply to the socket as its fault says. */
export async function deliverDamaged(
  response: ServerResponse,
  reply: ServerReply,
  plan: FaultPlan,
  { clock, dropConnections }: { readonly clock: Clock; readonly dropConnections: () => void },
): Promise<void> {
  const { socket } = response;
  if (socket === null || socket.destroyed) return;
  const delivery = planDelivery(bytesOf(reply.body), plan);
  const { head, end } = delivery;
  const headers = { ...reply.headers, 'content-length': String(delivery.contentLength) };
  // A reply that breaks off goes past Node's response, which would not let it.
  const target = end === 'complete' ? response : socket;
  if (end === 'complete') response.writeHead(reply.status, headers);
  else if (head !== 'none') socket.write(headText(reply.status, headers, head));
  for await (const piece of deliveredPieces(delivery, clock)) {
    if (socket.destroyed) return;
    target.write(piece);
  }
  if (end === 'reset-all') dropConnections();
  else if (end === 'reset' && head === 'none') resetConnection(socket);
  // The peer needs time to read what was written: some systems report a reset that overtakes it as an orderly end. Real time, because
  // the network has no other.
  else if (end === 'reset') setTimeout(resetConnection, RESET_DELAY_MS, socket).unref();
  else if (end !== 'stall') target.end();
}

/**
 * Ends a connection with a TCP reset. `resetAndDestroy()` alone ends it in order first when something was written; the flag it sets makes
 * `destroy()` reset immediately.
 */
export function resetConnection(socket: Socket): void {
  // Node does not reset a connection whose end is being written, and would never close it: it ends in order.
  if (!socket.writableEnded) (socket as Socket & { resetAndClosing?: boolean }).resetAndClosing = true;
  socket.destroy();
}

function headText(status: number, headers: Readonly<Record<string, string>>, part: 'half' | 'whole'): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
  return part === 'whole' ? text : text.slice(0, Math.ceil(text.length / 2));
}
