import { protobuf } from '@tinkex/types';
import { startChild } from './child.js';
import { type Exchange, runLoad } from './load.js';

/** Submit-and-poll of a small sample: the testkit's rate against bare node:http that answers the same bytes, measured in turns. */
/** Short and many, in turns: what else the machine does strikes both alike. */
const ROUNDS = 21;
const SECONDS = 0.5;
const WARM_UP_SECONDS = 4;
const tokens = Array.from({ length: 32 }, (_, index) => index);

function bodyOf(samplerId: string, seqId: number): string {
  return JSON.stringify({
    num_samples: 1,
    prompt: { chunks: [{ tokens, type: 'encoded_text' }] },
    sampling_params: { max_tokens: 16, temperature: 1, top_k: -1, top_p: 1 },
    sampling_session_id: samplerId,
    seq_id: seqId,
    prompt_logprobs: false,
    topk_prompt_logprobs: 0,
    type: 'sample',
  });
}

const exchangeOf = (samplerId: string): Exchange => ({
  submit: (index) => ({ path: '/api/v1/asample', body: bodyOf(samplerId, index) }),
  poll: (answer) => ({
    path: '/api/v1/retrieve_future',
    body: JSON.stringify({ request_id: (JSON.parse(answer) as { request_id: string }).request_id, allow_metadata_only: true }),
  }),
});

const result = protobuf.sampleResponse.encode({
  sequences: [{ tokens: Int32Array.from({ length: 16 }, () => 1), logprobs: new Float32Array(16).fill(-0.5), stopReason: 'length' }],
  promptCacheHitTokens: 0,
});

const bare = await startChild('./servers.ts', 'bare', Buffer.from(result).toString('base64'));
const testkit = await startChild('./servers.ts', 'testkit');
const [bareOrigin, testkitOrigin] = [bare, testkit].map(({ line }) => `http://127.0.0.1:${line}`) as [string, string];

async function post(path: string, body: unknown): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json', 'x-api-key': 'tml-test-key', 'x-idempotency-key': path };
  const response = await fetch(`${testkitOrigin}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, string>;
}

const { session_id: sessionId } = await post('create_session', { tags: [], user_metadata: {}, sdk_version: '0.25.0' });
const sampling = { session_id: sessionId, sampling_session_seq_id: 0, base_model: 'tinkex/tiny' };
const { sampling_session_id: samplerId = '' } = await post('create_sampling_session', sampling);

const rows = [];
const exchanges = { ours: 0, bare: 0 };
for (const concurrency of [1, 64]) {
  const ratios = [];
  let first = concurrency * 10_000_000;
  for (let round = 0; round < ROUNDS + 1; round++) {
    const seconds = round === 0 ? WARM_UP_SECONDS : SECONDS;
    const ours = await runLoad(testkitOrigin, exchangeOf(samplerId), concurrency, seconds, first);
    const theirs = await runLoad(bareOrigin, exchangeOf(samplerId), concurrency, seconds, first);
    first += 1_000_000;
    exchanges.ours += ours.exchanges;
    exchanges.bare += theirs.exchanges;
    if (ours.errors + theirs.errors > 0) {
      throw new Error(`${ours.errors} and ${theirs.errors} errors`);
    }
    // The first round warms both up.
    if (round > 0) {
      ratios.push({
        ratio: ours.exchangesPerSecond / theirs.exchangesPerSecond,
        ours: ours.exchangesPerSecond,
        bare: theirs.exchangesPerSecond,
      });
    }
  }
  ratios.sort((left, right) => left.ratio - right.ratio);
  const median = ratios[ROUNDS >> 1];
  rows.push({
    'in flight': concurrency,
    'testkit/s': Math.round(median?.ours ?? 0),
    'bare/s': Math.round(median?.bare ?? 0),
    ratio: Number(median?.ratio.toFixed(2)),
  });
}
const [bareCpu, testkitCpu] = [Number(await bare.stop()) / exchanges.bare, Number(await testkit.stop()) / exchanges.ours];
console.table(rows);
const cpu = { 'testkit µs': Math.round(testkitCpu), 'bare µs': Math.round(bareCpu), ratio: Number((testkitCpu / bareCpu).toFixed(2)) };
console.log('Server CPU per exchange (submit + poll), start-up included:', cpu);
console.log(JSON.stringify({ benchmark: 'testkit/request-rate', goal: 'ratio >= 0.5', rows, cpu }));
