import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startServer } from '@tinkex/testkit';

/**
 * The two servers under comparison, each in a process of its own: `bare` is node:http that reads each body and answers the very
 * bytes that the testkit would, `testkit` is the testkit with canned answers. Prints its port, and the microseconds of CPU it has used when told to end.
 */
const [kind] = process.argv.slice(2);

if (kind === 'bare') {
  const submitted = Buffer.from('{"request_id":"sess-0001:sample:0:req:1000000"}');
  const result = Buffer.from(process.argv[3] ?? '', 'base64');
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isPoll = request.url === '/api/v1/retrieve_future';
      const body = isPoll ? result : submitted;
      response.writeHead(200, {
        'content-type': isPoll ? 'application/x-protobuf' : 'application/json',
        'content-length': String(body.length),
      });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
} else {
  const server = await startServer({ engine: 'canned' });
  process.stdout.write(`${new URL(server.url).port}\n`);
  // The listener of a test server keeps no process alive.
  setInterval(() => undefined, 60_000);
}
process.on('SIGTERM', () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${user + system}\n`, () => process.exit(0));
});
