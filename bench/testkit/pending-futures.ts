import { createTestServer } from '@tinkex/testkit';

/** The memory of promises that wait, submitted and each polled once. Run with `--expose-gc` for the heap's own number. */
const COUNT = 10_000;
const server = createTestServer({ engine: 'canned', recorderLimit: 100 });
server.gate('asample', { at: 'execution' });
const encoder = new TextEncoder();
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

function post(path: string, body: unknown): ReturnType<typeof server.answer> {
  return server.answer({ method: 'POST', target: `/api/v1/${path}`, headers, body: encoder.encode(JSON.stringify(body)) });
}

async function json(path: string, body: unknown): Promise<Record<string, string>> {
  return JSON.parse(String((await post(path, body)).body)) as Record<string, string>;
}

const { session_id: sessionId } = await json('create_session', { tags: [], user_metadata: {}, sdk_version: '0.25.0' });
const { sampling_session_id: samplerId } = await json('create_sampling_session', {
  session_id: sessionId,
  sampling_session_seq_id: 0,
  base_model: 'tinkex/tiny',
});
const prompt = { chunks: [{ tokens: Array.from({ length: 32 }, (_, index) => index), type: 'encoded_text' }] };
const collect = globalThis.gc ?? ((): void => undefined);
collect();
const before = process.memoryUsage();
const polls: unknown[] = [];
for (let index = 0; index < COUNT; index++) {
  const { request_id: requestId } = await json('asample', {
    num_samples: 1,
    prompt,
    sampling_params: { max_tokens: 16 },
    sampling_session_id: samplerId,
    seq_id: index,
  });
  polls.push(post('retrieve_future', { request_id: requestId, allow_metadata_only: true }));
}
collect();
const after = process.memoryUsage();
const megabytes = (bytes: number): number => Number((bytes / 1e6).toFixed(1));
const rows = [
  {
    pending: server.pendingPromises,
    polls: polls.length,
    'heap MB': megabytes(after.heapUsed - before.heapUsed),
    'resident growth MB': megabytes(after.rss - before.rss),
    'resident MB': megabytes(after.rss),
  },
];
console.table(rows);
console.log(JSON.stringify({ benchmark: 'testkit/pending-futures', goal: '10,000 under 100 MB', rows }));
process.exit(0);
