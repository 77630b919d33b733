/**
 * A canned Tinker server in a process of its own: every answer is encoded once, before the first request, and nothing is
 * computed. Prints its port.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { protobuf, stringifyJson, TensorData } from '@tinkex/types';

const DATUMS = Number(process.argv[2]);
const TOKENS = Number(process.argv[3]);

const json = (value: unknown): Buffer => Buffer.from(stringifyJson(value as never));
const output = Buffer.from(
  protobuf.forwardBackwardOutput.encode({
    lossFnOutputType: 'ArrayRecord',
    lossFnOutputs: Array.from({ length: DATUMS }, () => ({ logprobs: TensorData.fromArray(new Float32Array(TOKENS).fill(-0.5)) })),
    metrics: { 'loss:sum': 1 },
  }),
);
const answers: Readonly<Record<string, Buffer>> = {
  create_session: json({ session_id: 'bench' }),
  create_model: json({ request_id: 'create' }),
  forward_backward: json({ request_id: 'pass' }),
  optim_step: json({ request_id: 'step' }),
};
const results: Readonly<Record<string, Buffer>> = {
  create: json({ model_id: 'bench:train:0' }),
  step: json({ metrics: { 'lr:mean': 0.1 } }),
};

function send(response: ServerResponse, body: Buffer, type = 'application/json'): void {
  response.writeHead(200, { 'content-type': type, 'content-length': body.length });
  response.end(body);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  const route = request.url?.slice(request.url.lastIndexOf('/') + 1) ?? '';
  request.on('data', (chunk: Buffer) => route === 'retrieve_future' && chunks.push(chunk));
  request.on('end', () => {
    if (route !== 'retrieve_future') return send(response, answers[route] ?? json({}));
    const { request_id } = JSON.parse(Buffer.concat(chunks).toString()) as { request_id: string };
    const result = results[request_id];
    return result === undefined ? send(response, output, 'application/x-protobuf') : send(response, result);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on('disconnect', () => process.exit());
