/** From the start of a process to the first reply of a server in it. */
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { program } from '../measure/program.js';

await program(async ({ contender }: { contender: 'testkit' | 'node-http' }) => {
  let url: string;
  if (contender === 'testkit') {
    const { startServer } = await import('@tinkex/testkit');
    url = (await startServer()).url;
  } else {
    const server = createServer((_, response) => response.end('{"status":"ok"}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  await new Promise((resolve) => get(`${url}/api/v1/healthz`, (response) => response.resume().on('end', resolve)));
  const { user, system } = process.cpuUsage();
  return { wallMs: performance.now(), cpuMs: (user + system) / 1_000 };
});
