/**
 * The server of these benchmarks, in a process of its own: it answers bytes that were encoded beforehand, and does as little
 * else as possible. `POST` gets a small JSON, `GET` gets 64 MiB.
 */
import net, { type AddressInfo } from 'node:net';

const DOWNLOAD_BYTES = 64 * 1024 * 1024;
const body = JSON.stringify({
  id: 'req-1',
  object: 'echo',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' } }],
});
const small = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
const largeHead = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: ${DOWNLOAD_BYTES}\r\n\r\n`);
const block = Buffer.alloc(256 * 1024, 1);

function sendLarge(socket: net.Socket): void {
  socket.write(largeHead);
  let sent = 0;
  const pump = (): void => {
    while (sent < DOWNLOAD_BYTES) {
      sent += block.length;
      if (!socket.write(block)) {
        socket.once('drain', pump);
        return;
      }
    }
  };
  pump();
}

const server = net.createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  let pending = '';
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    for (;;) {
      const head = pending.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, head))?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      const isDownload = pending.startsWith('GET');
      pending = pending.slice(head + 4 + length);
      if (isDownload) sendLarge(socket);
      else socket.write(small);
    }
  });
});

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
