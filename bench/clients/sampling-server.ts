/**
 * A canned Tinker server in a process of its own: every answer is encoded once, before the first request. `POST /hold` makes polls
 * wait, `POST /release` answers them. Prints its port.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { protobuf, sampleResponse, stringifyJson } from '@tinkex/types';

const sample = {
  sequences: [
    {
      tokens: Int32Array.from({ length: 16 }, (_, index) => index + 5),
      logprobs: new Float32Array(16).fill(-0.5),
      stopReason: 'length' as const,
    },
  ],
  promptCacheHitTokens: 0,
};
const json = (value: unknown): Buffer => Buffer.from(stringifyJson(value as never));
const answers = {
  config: json({}),
  session: json({ session_id: 'bench', type: 'create_session' }),
  sampler: json({ sampling_session_id: 'bench:sample:0', type: 'create_sampling_session' }),
  accepted: json({ request_id: 'bench-request-1' }),
  resultJson: json(sampleResponse.encode(sample)),
  resultProtobuf: Buffer.from(protobuf.sampleResponse.encode(sample)),
};

const held: (() => void)[] = [];
let isHolding = false;

function send(response: ServerResponse, body: Buffer, type = 'application/json'): void {
  response.writeHead(200, { 'content-type': type, 'content-length': body.length });
  response.end(body);
}

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const url = request.url ?? '';
    if (url.endsWith('/asample')) return send(response, answers.accepted);
    if (url.endsWith('/retrieve_future')) {
      const isProtobuf = request.headers.accept?.includes('protobuf') === true;
      const answer = isProtobuf
        ? () => send(response, answers.resultProtobuf, 'application/x-protobuf')
        : () => send(response, answers.resultJson);
      return isHolding ? void held.push(answer) : answer();
    }
    if (url === '/hold') isHolding = true;
    if (url === '/release') {
      isHolding = false;
      for (const answer of held.splice(0)) answer();
    }
    if (url === '/held') return send(response, json({ held: held.length }));
    if (url.endsWith('/create_session')) return send(response, answers.session);
    if (url.endsWith('/create_sampling_session')) return send(response, answers.sampler);
    return send(response, answers.config);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on('disconnect', () => process.exit());
