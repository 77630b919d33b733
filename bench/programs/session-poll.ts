/** Many samples in flight at the same time, each of which takes seconds: what waiting for them costs client and server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ServiceClient } from '@tinkex/clients';
import { ModelInput } from '@tinkex/types';
import { Pool } from 'undici';
import { program } from '../measure/program.js';
import { stopwatch } from '../measure/stopwatch.js';

interface Task {
  /** `session`: one poll per sampling session. `sample`: one poll per sample. `undici`: the exchanges of `session`, without the SDK. */
  readonly contender: 'session' | 'sample' | 'undici';
  readonly calls: number;
  readonly sampleMs: number;
}

/** Compiled like this program, beside it. */
const SERVER = fileURLToPath(new URL('../server/timed-server.js', import.meta.url));
const TOKENS = Array.from({ length: 32 }, (_, index) => index * 7 + 3);

await program(async ({ contender, calls, sampleMs }: Task) => {
  const options = JSON.stringify({ sampleMs, hasSessionPoll: contender !== 'sample' });
  const child = spawn(process.execPath, [SERVER, options], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const baseUrl = `http://127.0.0.1:${Number(line.toString())}`;
  const sample = contender === 'undici' ? rawSampler(baseUrl) : await sdkSampler(baseUrl, calls);
  const stop = stopwatch();
  await Promise.all(Array.from({ length: calls }, () => sample()));
  const { cpuMs, wallMs } = stop();
  const usage = (await (await fetch(`${baseUrl}/bench/usage`, { method: 'POST' })).json()) as Readonly<Record<string, number>>;
  child.stdin.end();
  return {
    pollsHeld: usage['maxHeld'] ?? Number.NaN,
    requests: usage['requests'] ?? Number.NaN,
    // The request above has opened one more.
    sockets: usage['maxSockets'] ?? Number.NaN,
    cpuUsPerSample: (cpuMs * 1_000) / calls,
    wallMs,
  };
});

async function sdkSampler(baseUrl: string, calls: number): Promise<() => PromiseLike<unknown>> {
  // Without a session's poll the default limit is 2,000 samples in flight.
  const service = new ServiceClient({ baseUrl, apiKey: 'tml-bench', telemetry: false, limits: { maxConcurrentSamples: calls } });
  const sampling = await service.createSamplingClient({ baseModel: 'bench' });
  const prompt = ModelInput.fromInts(TOKENS);
  return () => sampling.sample({ prompt, samplingParams: { maxTokens: 16, temperature: 0.7 } });
}

/** Submissions, one poll of the session at a time, and a request for each result that it reports. */
function rawSampler(baseUrl: string): () => Promise<unknown> {
  const submits = new Pool(baseUrl, { connections: 256 });
  const polls = new Pool(baseUrl, { connections: 1 });
  const fetches = new Pool(baseUrl, { connections: 32 });
  const headers = { accept: 'application/json', 'content-type': 'application/json', 'x-api-key': 'tml-bench' };
  const waiters = new Map<string, () => void>();
  const early = new Set<string>();
  let seqId = 0;
  let isPolling = false;
  const post = async (pool: Pool, path: string, body: object): Promise<unknown> => {
    const answer = await pool.request({ method: 'POST', path: `/api/v1/${path}`, headers, body: JSON.stringify(body) });
    return answer.body.json();
  };
  const pollSession = async (): Promise<void> => {
    isPolling = true;
    const target = { type: 'sampling_session', sampling_session_id: 'bench:sample:0', cloned_sampler_id: 0 };
    for (let cursor = 0; waiters.size > 0; ) {
      const answer = await post(polls, 'retrieve_futures', { target, prev_cursor: cursor, retrieved_request_ids: [] });
      const { completions, cursor: next } = answer as { completions: { request_id: string }[]; cursor: number };
      cursor = next;
      for (const { request_id } of completions) {
        const wake = waiters.get(request_id);
        waiters.delete(request_id);
        if (wake === undefined) early.add(request_id);
        else wake();
      }
    }
    isPolling = false;
  };
  return async () => {
    const submission = {
      num_samples: 1,
      prompt: { chunks: [{ tokens: TOKENS, type: 'encoded_text' }] },
      sampling_params: { max_tokens: 16, temperature: 0.7, top_k: -1, top_p: 1 },
      sampling_session_id: 'bench:sample:0',
      seq_id: seqId++,
      prompt_logprobs: false,
      topk_prompt_logprobs: 0,
      type: 'sample',
    };
    const { request_id } = (await post(submits, 'asample', submission)) as { request_id: string };
    if (!early.delete(request_id)) {
      const woken = new Promise<void>((resolve) => waiters.set(request_id, resolve));
      if (!isPolling) void pollSession();
      await woken;
    }
    return post(fetches, 'retrieve_future', { request_id, allow_metadata_only: false });
  };
}
