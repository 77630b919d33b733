import { apiKeyAuth, HttpClient } from '@tinkex/http';
const payload = { model_id: 'm', prompt: { tokens: Array.from({ length: 32 }, (_, index) => index) }, num_samples: 1 };
const bytes = new TextEncoder().encode(JSON.stringify({ id: 'req-1', object: 'echo', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'hello' } }] }));
const body = { bytes: async () => bytes, cancel() {}, async *[Symbol.asyncIterator]() { yield bytes; } };
const response = { status: 200, headers: { 'content-type': 'application/json', 'content-length': String(bytes.length) }, body };
const client = new HttpClient({ baseUrl: 'http://x', auth: apiKeyAuth('tml-bench'), transport: { send: async () => response, close: async () => undefined } });
for (const conc of [1, 1024]) for (let r = 0; r < 4; r++) {
  const N = 50000; const c = process.cpuUsage(); let k = 0;
  await Promise.all(Array.from({ length: conc }, async () => { while (k++ < N) await client.request({ method: 'POST', path: '/echo', body: payload, pool: 'sample' }); }));
  const u = process.cpuUsage(c); console.log(conc, ((u.user + u.system) / N).toFixed(2), 'us');
}
