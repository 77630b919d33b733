import { serverProtobuf } from '@tinkex/testkit';
import { TensorData } from '@tinkex/types';
import { sampleResponse, stringifyJson } from '@tinkex/types/wire';

/** A complete HTTP response, ready to be written. */
export type Response = readonly Buffer[];

/** Encodes a response once, before it is needed. */
export function response(body: Uint8Array | string | object, type = 'application/json'): Response {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const bytes = Buffer.from(isRaw ? (body as string) : stringifyJson(body as never));
  const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`, 'latin1');
  // One packet for small bodies; large ones are not copied.
  return bytes.length < 16_384 ? [Buffer.concat([head, bytes])] : [head, bytes];
}

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

/** The answers to everything but polls, by the last part of the path. */
export const answers: Readonly<Record<string, Response>> = {
  healthz: response({ status: 'ok' }),
  config: response({}),
  create_session: response({ session_id: 'bench', type: 'create_session' }),
  session_heartbeat: response({ type: 'session_heartbeat' }),
  create_sampling_session: response({ sampling_session_id: 'bench:sample:0', type: 'create_sampling_session' }),
  telemetry: response({ status: 'accepted' }),
  asample: response({ request_id: 'sample' }),
  create_model: response({ request_id: 'create' }),
  forward_backward: response({ request_id: 'pass' }),
  optim_step: response({ request_id: 'step' }),
  echo: response({
    id: 'echo-1',
    object: 'echo',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' } }],
  }),
};

/** The config of a server that makes the Python SDK use its pure Python transport. */
export const httpxConfig = response({ use_pyqwest_transport: false });

/** Results that exist only as JSON, by future. */
export const jsonResults: Readonly<Record<string, Response>> = {
  create: response({ model_id: 'bench:train:0', type: 'create_model' }),
  step: response({ metrics: { 'lr:mean': 0.1 } }),
};

export const sampleAsJson = response(sampleResponse.encode(sample));
export const sampleAsProtobuf = response(serverProtobuf.sampleResponse.encode(sample), 'application/x-protobuf');

/** The result of a pass over some datums, with some numbers each. */
export function passResult(outputs: number, numbers: number): Response {
  const output = {
    lossFnOutputType: 'ArrayRecord',
    lossFnOutputs: Array.from({ length: outputs }, () => ({ logprobs: TensorData.fromArray(new Float32Array(numbers).fill(-0.5)) })),
    metrics: { 'loss:sum': 1 },
  };
  return response(serverProtobuf.forwardBackwardOutput.encode(output), 'application/x-protobuf');
}
