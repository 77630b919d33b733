/** Submits and polls small samples on a test server, with raw undici. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { program } from '../measure/program.js';
import { keepInFlight } from '../measure/repeat.js';
import { stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly contender: 'testkit' | 'node-http';
  readonly inFlight: number;
  readonly calls: number;
  readonly warmUpCalls: number;
}

const headers = {
  'content-type': 'application/json',
  accept: 'application/x-protobuf',
  'x-api-key': 'tml-test-key',
  'x-idempotency-key': 'bench',
  'x-tinker-sampling-backpressure': '1',
  'x-tinker-request-iteration': '0',
  'x-tinker-request-type': 'Sample',
  'x-tinker-create-promise-roundtrip-time': '0.001',
};
const prompt = { chunks: [{ tokens: Array.from({ length: 32 }, (_, index) => index), type: 'encoded_text' }] };

await program(async ({ contender, inFlight, calls, warmUpCalls }: Task) => {
  const server = spawn(process.execPath, [fileURLToPath(new URL('./testkit-servers.js', import.meta.url)), contender], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const pool = new Pool(`http://127.0.0.1:${Number(port.toString())}`, { connections: inFlight });
  const post = async (path: string, body: object) => {
    const response = await pool.request({ method: 'POST', path: `/api/v1/${path}`, headers, body: JSON.stringify(body) });
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${await response.body.text()}`);
    return response.body;
  };
  const json = async (path: string, body: object) => (await (await post(path, body)).json()) as Record<string, string>;
  const { session_id } = await json('create_session', { tags: [], user_metadata: {}, sdk_version: '0.25.0' });
  const sampler = { session_id, sampling_session_seq_id: 0, base_model: 'tinkex/tiny' };
  const { sampling_session_id } = await json('create_sampling_session', sampler);
  let seqId = 0;
  const sample = async () => {
    const sampling_params = { max_tokens: 16, temperature: 1, top_k: -1, top_p: 1 };
    const { request_id } = await json('asample', {
      num_samples: 1,
      prompt,
      sampling_params,
      sampling_session_id,
      seq_id: seqId++,
      type: 'sample',
    });
    return (await post('retrieve_future', { request_id, allow_metadata_only: true })).arrayBuffer();
  };
  await keepInFlight(sample, warmUpCalls, inFlight);
  const stop = stopwatch();
  await keepInFlight(sample, calls, inFlight);
  const { wallMs } = stop();
  server.stdin.end();
  const serverCpuMs = Number(await text(server.stdout));
  return { callsPerSecond: (calls / wallMs) * 1_000, serverCpuMicrosPerCall: (serverCpuMs * 1_000) / (calls + warmUpCalls) };
});
