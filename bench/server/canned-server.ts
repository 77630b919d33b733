/**
 * The server of every benchmark, in a separate process: all answers are encoded beforehand, and nothing is computed. It prints its port and exits when its
 * standard input ends. Besides the API it has a few routes that control it:
 *
 *   GET  /file                                 64 MiB
 *   POST /bench/hold, /bench/release           polls wait; waiting polls are answered
 *   POST /bench/held                           how many wait
 *   POST /bench/pass-result/OUTPUTS/NUMBERS    sets the result of forward_backward
 *   POST /bench/usage                          the CPU time this process has used
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { answers, httpxConfig, jsonResults, passResult, type Response, response, sampleAsJson, sampleAsProtobuf } from './answers.js';
import { type CannedRequest, readRequests } from './parse-requests.js';

const FILE_BYTES = 64 * 1024 * 1024;
const block = Buffer.alloc(256 * 1024, 1);

const held: (() => void)[] = [];
let isHolding = false;
let pass = passResult(1, 1);

function send(socket: Socket, parts: Response): void {
  for (const part of parts) socket.write(part);
}

function sendFile(socket: Socket): void {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: ${FILE_BYTES}\r\n\r\n`);
  let sent = 0;
  const pump = (): void => {
    while (sent < FILE_BYTES) {
      sent += block.length;
      if (!socket.write(block)) {
        socket.once('drain', pump);
        return;
      }
    }
  };
  pump();
}

function pollResult({ head, body }: CannedRequest): Response {
  const { request_id } = JSON.parse(body) as { request_id: string };
  if (request_id === 'sample') return head.includes('application/x-protobuf') ? sampleAsProtobuf : sampleAsJson;
  return jsonResults[request_id] ?? pass;
}

function control(path: string): Response {
  const [, , action, ...args] = path.split('/');
  if (action === 'hold') isHolding = true;
  if (action === 'release') {
    isHolding = false;
    for (const answer of held.splice(0)) answer();
  }
  if (action === 'pass-result') pass = passResult(Number(args[0]), Number(args[1]));
  const { user, system } = process.cpuUsage();
  return response({ held: held.length, cpuMs: (user + system) / 1_000 });
}

function answer(socket: Socket, request: CannedRequest): void {
  const { path, head } = request;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === 'retrieve_future') {
    const result = pollResult(request);
    if (isHolding && result !== jsonResults['create']) held.push(() => send(socket, result));
    else send(socket, result);
  } else if (path.startsWith('/bench/')) send(socket, control(path));
  else if (name === 'file') sendFile(socket);
  else if (name === 'config' && head.includes('tml-bench-httpx')) send(socket, httpxConfig);
  else send(socket, answers[name] ?? (answers['config'] as Response));
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  readRequests(
    socket,
    (path) => path.endsWith('retrieve_future'),
    (request) => answer(socket, request),
  );
});
server.listen(0, '127.0.0.1', 4_096, () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume().once('close', () => process.exit(0));
