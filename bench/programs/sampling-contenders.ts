import { ServiceClient } from '@tinkex/clients';
import { ModelInput } from '@tinkex/types';
import { Pool } from 'undici';

/** Makes one sampling call at a time. */
export interface Sampler {
  sample(): PromiseLike<unknown>;
}

const TOKENS = Array.from({ length: 32 }, (_, index) => index * 7 + 3);

/** What the protocol demands with each request; see `packages/http/src/client/default-headers.ts`. */
const PROTOCOL_HEADERS = {
  accept: 'application/json',
  'content-type': 'application/json',
  'user-agent': 'Tinkex/TypeScript 0.0.0',
  'x-idempotency-key': 'tinkex-retry-00000000-0000-4000-8000-000000000000',
  'x-stainless-arch': 'x64',
  'x-stainless-os': 'Linux',
  'x-stainless-package-version': '0.25.0',
  'x-stainless-read-timeout': '60',
  'x-stainless-retry-count': '0',
  'x-stainless-runtime': 'node',
  'x-stainless-runtime-version': process.version,
  'x-api-key': 'tml-bench',
};
const SUBMIT_HEADERS = { ...PROTOCOL_HEADERS, 'x-tinker-sampling-backpressure': '1' };
const POLL_HEADERS = { ...PROTOCOL_HEADERS, 'x-tinker-request-iteration': '0', 'x-tinker-request-type': 'Sample' };
const FEW_HEADERS = { accept: 'application/json', 'content-type': 'application/json', 'x-api-key': 'tml-bench' };

function submission(seqId: number): string {
  return JSON.stringify({
    num_samples: 1,
    prompt: { chunks: [{ tokens: TOKENS, type: 'encoded_text' }] },
    sampling_params: { max_tokens: 16, temperature: 0.7, top_k: -1, top_p: 1 },
    sampling_session_id: 'bench:sample:0',
    seq_id: seqId,
    prompt_logprobs: false,
    topk_prompt_logprobs: 0,
    type: 'sample',
  });
}

/**
 * The lower bound: two undici requests and JSON, nothing else.
 *
 * @param hasAllHeaders - Whether to send all headers of the protocol, or just enough for this server.
 */
function rawUndici(baseUrl: string, hasAllHeaders: boolean): Sampler {
  const submitPool = new Pool(baseUrl, { connections: 256 });
  const pollPool = new Pool(baseUrl, { connections: 2_048 });
  let seqId = 0;
  return {
    async sample() {
      const submitted = await submitPool.request({
        method: 'POST',
        path: '/api/v1/asample',
        headers: hasAllHeaders ? SUBMIT_HEADERS : FEW_HEADERS,
        body: submission(seqId++),
      });
      const { request_id } = (await submitted.body.json()) as { request_id: string };
      const polled = await pollPool.request({
        method: 'POST',
        path: '/api/v1/retrieve_future',
        headers: hasAllHeaders ? POLL_HEADERS : FEW_HEADERS,
        body: JSON.stringify({ request_id, allow_metadata_only: true }),
      });
      return polled.body.json();
    },
  };
}

/** The same with the `fetch` of the runtime. */
function globalFetch(baseUrl: string): Sampler {
  let seqId = 0;
  const post = async (path: string, headers: Record<string, string>, body: string): Promise<unknown> => {
    const response = await fetch(`${baseUrl}/api/v1/${path}`, { method: 'POST', headers, body });
    return response.json();
  };
  return {
    async sample() {
      const { request_id } = (await post('asample', SUBMIT_HEADERS, submission(seqId++))) as { request_id: string };
      return post('retrieve_future', POLL_HEADERS, JSON.stringify({ request_id, allow_metadata_only: true }));
    },
  };
}

/** The SDK as an application uses it. */
async function tinkex(baseUrl: string): Promise<Sampler> {
  const service = new ServiceClient({ baseUrl, apiKey: 'tml-bench', telemetry: false });
  const sampling = await service.createSamplingClient({ baseModel: 'bench' });
  const prompt = ModelInput.fromInts(TOKENS);
  const samplingParams = { maxTokens: 16, temperature: 0.7 };
  return { sample: () => sampling.sample({ prompt, samplingParams }) };
}

/** Creates a contender by its name. */
export async function samplerOf(contender: string, baseUrl: string): Promise<Sampler> {
  if (contender === 'tinkex') return tinkex(baseUrl);
  if (contender === 'fetch') return globalFetch(baseUrl);
  return rawUndici(baseUrl, contender === 'undici');
}
