/**
 * A test server or its lower bound, in a separate process: `node-http` reads each body and answers the same bytes as the testkit. Prints its port, and, when its
 * standard input ends, the milliseconds of CPU it used.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serverProtobuf, startServer } from '@tinkex/testkit';

const result = Buffer.from(
  serverProtobuf.sampleResponse.encode({
    sequences: [{ tokens: new Int32Array(16).fill(1), logprobs: new Float32Array(16).fill(-0.5), stopReason: 'length' }],
    promptCacheHitTokens: 0,
  }),
);
const answers: Readonly<Record<string, Buffer>> = {
  create_session: Buffer.from('{"session_id":"sess-0001"}'),
  create_sampling_session: Buffer.from('{"sampling_session_id":"sess-0001:sample:0"}'),
  asample: Buffer.from('{"request_id":"sess-0001:sample:0:req:1000000"}'),
};

async function startFloor(): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = answers[request.url?.slice('/api/v1/'.length) ?? ''] ?? result;
      const type = body === result ? 'application/x-protobuf' : 'application/json';
      response.writeHead(200, { 'content-type': type, 'content-length': String(body.length) });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const url = process.argv[2] === 'testkit' ? (await startServer({ engine: 'canned' })).url : await startFloor();
process.stdout.write(`${new URL(url).port}\n`);
process.stdin.resume().once('close', () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${(user + system) / 1_000}\n`, () => process.exit(0));
});
