import { fork } from 'node:child_process';
import { once } from 'node:events';
import { ServiceClient } from '@tinkex/clients';
import { HttpClient, UndiciTransport, apiKeyAuth } from '@tinkex/http';
import { ModelInput, protobuf, sampleRequest, stringifyJson, untypedApiFuture, parseJson } from '@tinkex/types';
import { rawUndici, tinkex, type Contender } from './sampling-contenders.js';
const server = fork(new URL('./sampling-server.ts', import.meta.url), { silent: true, execArgv: process.execArgv.filter(a=>!a.includes('prof')) });
const [portLine] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
const baseUrl = `http://127.0.0.1:${Number(portLine.toString())}`;
const N = Number(process.env.N ?? 3000);
const W = Number(process.env.W ?? 64);
const tokens = Array.from({ length: 32 }, (_, index) => index * 7 + 3);
const prompt = ModelInput.fromInts(tokens);
const transport = new UndiciTransport();
const headers = { 'content-type': 'application/json', 'x-api-key': 'tml-bench', accept: 'application/json' };
const bodyOf = (seqId: number) => ({ num_samples: 1, prompt: { chunks: [{ tokens, type: 'encoded_text' }] }, sampling_params: { max_tokens: 16, temperature: 0.7, top_k: -1, top_p: 1 }, sampling_session_id: 'bench:sample:0', seq_id: seqId, prompt_logprobs: false, topk_prompt_logprobs: 0, type: 'sample' });
let seq = 0;
const viaTransport: Contender = { name: 'transport', async sample() {
  const a = await transport.send({ method: 'POST', url: baseUrl + '/api/v1/asample', headers, pool: 'sample', body: JSON.stringify(bodyOf(seq++)) });
  const { request_id } = JSON.parse(Buffer.from(await a.body.bytes()).toString()) as { request_id: string };
  const b = await transport.send({ method: 'POST', url: baseUrl + '/api/v1/retrieve_future', headers: { ...headers, accept: 'application/x-protobuf' }, pool: 'retrieve_promise', body: JSON.stringify({ request_id, allow_metadata_only: true }) });
  return protobuf.sampleResponse.decode(await b.body.bytes());
}, close: () => transport.close() };
const http = new HttpClient({ baseUrl, auth: apiKeyAuth('tml-bench') });
const viaHttp: Contender = { name: 'http client', async sample() {
  const { requestId } = await http.request({ method: 'POST', path: '/api/v1/asample', pool: 'sample', maxRetries: 0, body: bodyOf(seq++), parse: (raw) => ({ requestId: (JSON.parse(Buffer.from(raw.bytes).toString()) as { request_id: string }).request_id }) });
  return http.request({ method: 'POST', path: '/api/v1/retrieve_future', pool: 'retrieve_promise', maxRetries: 0, accept: 'application/x-protobuf', body: { request_id: requestId, allow_metadata_only: true }, parse: (raw) => protobuf.sampleResponse.decode(raw.bytes) });
}, close: () => http.close() };
const viaHttpSignal: Contender = { name: 'http + signal', async sample() {
  const controller = new AbortController(); const signal = controller.signal;
  const { requestId } = await http.request({ signal, method: 'POST', path: '/api/v1/asample', pool: 'sample', maxRetries: 0, body: bodyOf(seq++), parse: (raw) => ({ requestId: (JSON.parse(Buffer.from(raw.bytes).toString()) as { request_id: string }).request_id }) });
  return http.request({ signal, method: 'POST', path: '/api/v1/retrieve_future', pool: 'retrieve_promise', maxRetries: 0, accept: 'application/x-protobuf', body: { request_id: requestId, allow_metadata_only: true }, parse: (raw) => protobuf.sampleResponse.decode(raw.bytes) });
}, close: () => http.close() };
const codecs: Contender = { name: 'codecs only', async sample() {
  stringifyJson(sampleRequest.encode({ prompt, numSamples: 1, samplingParams: { maxTokens: 16, temperature: 0.7 }, samplingSessionId: 'bench:sample:0', seqId: seq++, promptLogprobs: false, topkPromptLogprobs: 0 }));
  return untypedApiFuture.decode(parseJson('{"request_id":"bench-request-1"}'));
}, close: async () => {} };
const all: Contender[] = [rawUndici(baseUrl), viaTransport, viaHttp, viaHttpSignal, await tinkex(baseUrl), codecs];
const only = process.env.ONLY; const list = only ? all.filter((c) => c.name.includes(only)) : all;
const sums = new Map<string, number[]>();
for (let round = 0; round < Number(process.env.R ?? 6); round++) for (const c of list) {
  let left = N; const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: W }, async () => { while (left-- > 0) await c.sample(); }));
  const u = process.cpuUsage(cpu); (sums.get(c.name) ?? sums.set(c.name, []).get(c.name)!).push((u.user + u.system) / 1000 / N);
}
for (const [name, values] of sums) console.log(name.padEnd(16), values.map((v) => v.toFixed(3)).join(' '));
process.exit();
