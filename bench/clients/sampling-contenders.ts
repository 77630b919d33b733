import { ServiceClient } from '@tinkex/clients';
import { ModelInput } from '@tinkex/types';
import { Pool } from 'undici';

/** Something that samples. */
export interface Contender {
  readonly name: string;
  sample(): PromiseLike<unknown>;
  close(): Promise<void>;
}

const tokens = Array.from({ length: 32 }, (_, index) => index * 7 + 3);

/** The floor: two undici requests and JSON, nothing else. */
export function rawUndici(baseUrl: string): Contender {
  const submitPool = new Pool(baseUrl, { connections: 256, pipelining: 1 });
  const pollPool = new Pool(baseUrl, { connections: 2048, pipelining: 1 });
  const headers = { 'content-type': 'application/json', 'x-api-key': 'tml-bench', accept: 'application/json' };
  let seqId = 0;
  return {
    name: 'raw undici',
    async sample() {
      const submission = await submitPool.request({
        method: 'POST',
        path: '/api/v1/asample',
        headers,
        body: JSON.stringify({
          num_samples: 1,
          prompt: { chunks: [{ tokens, type: 'encoded_text' }] },
          sampling_params: { max_tokens: 16, temperature: 0.7, top_k: -1, top_p: 1 },
          sampling_session_id: 'bench:sample:0',
          seq_id: seqId++,
          prompt_logprobs: false,
          topk_prompt_logprobs: 0,
          type: 'sample',
        }),
      });
      const { request_id } = (await submission.body.json()) as { request_id: string };
      const poll = await pollPool.request({
        method: 'POST',
        path: '/api/v1/retrieve_future',
        headers,
        body: JSON.stringify({ request_id, allow_metadata_only: true }),
      });
      return poll.body.json();
    },
    async close() {
      await Promise.all([submitPool.close(), pollPool.close()]);
    },
  };
}

/** The SDK as an application uses it. */
export async function tinkex(baseUrl: string): Promise<Contender> {
  const service = new ServiceClient({ baseUrl, apiKey: 'tml-bench', telemetry: false });
  const sampling = await service.createSamplingClient({ baseModel: 'bench' });
  const prompt = ModelInput.fromInts(tokens);
  const samplingParams = { maxTokens: 16, temperature: 0.7 };
  return {
    name: '@tinkex/clients',
    sample: () => sampling.sample({ prompt, samplingParams }),
    close: () => service.close(),
  };
}
