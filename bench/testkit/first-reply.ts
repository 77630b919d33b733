import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One start: a server, one request to it, its reply. Prints the milliseconds since the process began. */
const [kind] = process.argv.slice(2);

let url: string;
if (kind === 'bare') {
  const server = createServer((_request, response) => response.end('{"status":"ok"}'));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
} else {
  const { startServer } = await import('@tinkex/testkit');
  ({ url } = await startServer());
}
const response = await fetch(`${url}/api/v1/healthz`, { headers: { 'x-api-key': 'tml-test-key' } });
await response.text();
process.stdout.write(`${performance.now()}\n`);
process.exit(0);
