/**
 * A server whose samples take a while, in a separate process. It prints its port and exits when its standard input ends. The only argument is
 * JSON: `sampleMs`, how long a sample takes, and `hasSessionPoll`, whether clients use one poll per sampling session.
 *
 *   POST /bench/usage    what the clients have done so far
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { answers, type Response, response, sampleAsJson, sampleAsProtobuf } from './answers.js';
import { type CannedRequest, readRequests } from './parse-requests.js';

const { sampleMs, hasSessionPoll } = JSON.parse(process.argv[2] ?? '{}') as { sampleMs: number; hasSessionPoll: boolean };
const config = response(hasSessionPoll ? { sample_use_retrieve_futures: true } : {});

/** Samples that are done, in the order in which they ended. */
const ended: string[] = [];
const isEnded = new Set<string>();
/** Polls that wait, by sample. */
const held = new Map<string, () => void>();
let heldSessionPoll: { readonly socket: Socket; readonly cursor: number } | undefined;
const usage = { samples: 0, requests: 0, sockets: 0, maxSockets: 0, held: 0, maxHeld: 0 };

function send(socket: Socket, parts: Response): void {
  for (const part of parts) socket.write(part);
}

function hold(change: 1 | -1): void {
  usage.held += change;
  usage.maxHeld = Math.max(usage.maxHeld, usage.held);
}

function startSample(socket: Socket): void {
  const id = `sample-${usage.samples++}`;
  setTimeout(() => endSample(id), sampleMs);
  send(socket, response({ request_id: id, sample_sequence_ids: [`${id}:0`] }));
}

function endSample(id: string): void {
  ended.push(id);
  isEnded.add(id);
  const answerPoll = held.get(id);
  held.delete(id);
  answerPoll?.();
  // Timers that end in the same millisecond share one answer.
  if (heldSessionPoll !== undefined && ended.length === heldSessionPoll.cursor + 1) setImmediate(answerSessionPoll);
}

function pollSample(socket: Socket, { head, body }: CannedRequest): void {
  const { request_id: id } = JSON.parse(body) as { request_id: string };
  const result = head.includes('application/x-protobuf') ? sampleAsProtobuf : sampleAsJson;
  if (isEnded.has(id)) {
    send(socket, result);
    return;
  }
  hold(1);
  held.set(id, () => {
    hold(-1);
    send(socket, result);
  });
}

function pollSession(socket: Socket, { body }: CannedRequest): void {
  const { prev_cursor: cursor } = JSON.parse(body) as { prev_cursor: number };
  hold(1);
  heldSessionPoll = { socket, cursor };
  if (ended.length > cursor) answerSessionPoll();
}

function answerSessionPoll(): void {
  if (heldSessionPoll === undefined) return;
  const { socket, cursor } = heldSessionPoll;
  heldSessionPoll = undefined;
  hold(-1);
  const completions = ended.slice(cursor).map((id) => ({ state: 'finished', request_id: id, response_payload_uncompressed_size: 200 }));
  send(socket, response({ completions, cursor: ended.length }));
}

function answer(socket: Socket, request: CannedRequest): void {
  const { path } = request;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === 'usage') {
    send(socket, response(usage));
    return;
  }
  usage.requests += 1;
  if (name === 'asample') startSample(socket);
  else if (name === 'retrieve_future') pollSample(socket, request);
  else if (name === 'retrieve_futures') pollSession(socket, request);
  else if (name === 'config') send(socket, config);
  else send(socket, answers[name] ?? config);
}

const server = createServer({ noDelay: true }, (socket) => {
  usage.sockets += 1;
  usage.maxSockets = Math.max(usage.maxSockets, usage.sockets);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    usage.sockets -= 1;
    if (heldSessionPoll?.socket !== socket) return;
    heldSessionPoll = undefined;
    hold(-1);
  });
  readRequests(
    socket,
    (path) => path.includes('retrieve_future'),
    (request) => answer(socket, request),
  );
});
server.listen(0, '127.0.0.1', 4_096, () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume().once('close', () => process.exit(0));
