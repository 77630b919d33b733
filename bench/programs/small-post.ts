/** A small JSON POST through a whole client. */
import { apiKeyAuth, HttpClient, subscribe, UndiciTransport } from '@tinkex/http';
import OpenAI from 'openai';
import { Pool } from 'undici';
import { program } from '../measure/program.js';
import { costOfCalls, type Load } from '../measure/repeat.js';

interface Task extends Load {
  readonly contender: string;
  readonly baseUrl: string;
}

const CONNECTIONS = 64;
const PAYLOAD = { model_id: 'm', prompt: { tokens: Array.from({ length: 32 }, (_, index) => index) }, num_samples: 1 };

/** The headers our pipeline sends, so that the other contenders make the same exchange. */
async function pipelineHeaders(baseUrl: string): Promise<Record<string, string>> {
  let headers: Record<string, string> = {};
  await using transport = new UndiciTransport({ proxy: false });
  const recording = {
    send: (request: Parameters<typeof transport.send>[0]) => {
      headers = { ...request.headers };
      return transport.send(request);
    },
    close: async () => undefined,
  };
  await new HttpClient({ baseUrl, auth: apiKeyAuth('tml-bench'), transport: recording }).request({
    method: 'POST',
    path: '/echo',
    body: PAYLOAD,
  });
  return headers;
}

async function callOf(contender: string, baseUrl: string): Promise<() => PromiseLike<unknown>> {
  if (contender === 'openai') {
    const openai = new OpenAI({ apiKey: 'sk-bench', baseURL: baseUrl, maxRetries: 2 });
    return () => openai.post('/echo', { body: PAYLOAD });
  }
  if (contender.startsWith('tinkex')) {
    const transport = new UndiciTransport({ pools: { sample: CONNECTIONS }, proxy: false });
    const client = new HttpClient({ baseUrl, auth: apiKeyAuth('tml-bench'), transport });
    if (contender === 'tinkex-watched') subscribe('tinkex:http:request:stop', () => undefined);
    return () => client.request({ method: 'POST', path: '/echo', body: PAYLOAD, pool: 'sample' });
  }
  const headers = await pipelineHeaders(baseUrl);
  if (contender === 'fetch') {
    return async () => (await fetch(`${baseUrl}/echo`, { method: 'POST', headers, body: JSON.stringify(PAYLOAD) })).json();
  }
  const pool = new Pool(baseUrl, { connections: CONNECTIONS });
  return async () => (await pool.request({ method: 'POST', path: '/echo', headers, body: JSON.stringify(PAYLOAD) })).body.json();
}

await program(async ({ contender, baseUrl, ...load }: Task) => costOfCalls(await callOf(contender, baseUrl), load));
