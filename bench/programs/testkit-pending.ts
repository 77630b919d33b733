/** The memory of futures that a test server holds, each submitted and polled once. */
import { createTestServer } from '@tinkex/testkit';
import { program } from '../measure/program.js';
import { collectGarbage } from '../measure/stopwatch.js';

await program(async ({ promises }: { promises: number }) => {
  const server = createTestServer({ engine: 'canned', recorderLimit: 100 });
  server.gate('asample', { at: 'execution' });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/x-protobuf',
    'x-api-key': server.apiKey,
    'x-idempotency-key': 'bench',
    'x-tinker-sampling-backpressure': '1',
    'x-tinker-request-iteration': '0',
    'x-tinker-request-type': 'Sample',
    'x-tinker-create-promise-roundtrip-time': '0',
  };
  const encoder = new TextEncoder();
  const post = (path: string, body: object) =>
    server.answer({ method: 'POST', target: `/api/v1/${path}`, headers, body: encoder.encode(JSON.stringify(body)) });
  const json = async (path: string, body: object) => JSON.parse(String((await post(path, body)).body)) as Record<string, string>;
  const { session_id } = await json('create_session', { tags: [], user_metadata: {}, sdk_version: '0.25.0' });
  const sampler = { session_id, sampling_session_seq_id: 0, base_model: 'tinkex/tiny' };
  const { sampling_session_id } = await json('create_sampling_session', sampler);
  const prompt = { chunks: [{ tokens: Array.from({ length: 32 }, (_, index) => index), type: 'encoded_text' }] };
  collectGarbage();
  const before = process.memoryUsage();
  const polls: unknown[] = [];
  for (let seq_id = 0; seq_id < promises; seq_id += 1) {
    const { request_id } = await json('asample', {
      num_samples: 1,
      prompt,
      sampling_params: { max_tokens: 16 },
      sampling_session_id,
      seq_id,
    });
    polls.push(post('retrieve_future', { request_id, allow_metadata_only: true }));
  }
  collectGarbage();
  const after = process.memoryUsage();
  return { heapMegabytes: (after.heapUsed - before.heapUsed) / 1e6, residentMegabytes: (after.rss - before.rss) / 1e6 };
});
