import { apiKeyAuth, HttpClient, UndiciTransport } from '@tinkex/http';
import { Pool } from 'undici';
import { startEchoServer } from './start-server.js';
const payload = { model_id: 'm', prompt: { tokens: Array.from({ length: 32 }, (_, index) => index) }, num_samples: 1 };
const server = await startEchoServer();
const pool = new Pool(server.url, { connections: 16 });
const transport = new UndiciTransport({ pools: { sample: 16 }, proxy: false });
const client = new HttpClient({ baseUrl: server.url, auth: apiKeyAuth('tml-bench'), transport });
let headers: Record<string,string> = {};
await new HttpClient({ baseUrl: server.url, auth: apiKeyAuth('tml-bench'), transport: { send: (r) => { headers = {...r.headers}; return transport.send(r); }, close: async () => undefined } }).request({ method: 'POST', path: '/echo', body: payload, pool: 'sample' });
const raw = async () => (await pool.request({ method: 'POST', path: '/echo', headers, body: JSON.stringify(payload) })).body.json();
const ours = async () => client.request({ method: 'POST', path: '/echo', body: payload, pool: 'sample' });
const tr = async () => { const r = await transport.send({ method: 'POST', url: server.url + '/echo', headers, body: JSON.stringify(payload), pool: 'sample' }); return JSON.parse(Buffer.from(await r.body.bytes()).toString()); };
const run = async (f: () => Promise<unknown>, n: number) => { let k = 0; await Promise.all(Array.from({ length: 16 }, async () => { while (k++ < n) await f(); })); };
await run(ours, 3000); (globalThis as any).gc(); const list = Array.from({ length: Number(process.env.NN) }, () => ours()); (await import('node:v8')).writeHeapSnapshot(`/tmp/h${process.env.NN}.heapsnapshot`); await Promise.all(list); process.exit(0); for (const [name, f] of [['raw', raw]] as const) {
  await run(f, 3000); (globalThis as any).gc();
  const b = process.memoryUsage().heapUsed; await run(f, 5000); const a = process.memoryUsage().heapUsed; console.log(name, ((a - b) / 5000).toFixed(0), 'B/call');
  (globalThis as any).gc();
  const list = Array.from({ length: Number(process.env.NN) }, () => f()); const h = process.memoryUsage().heapUsed; (globalThis as any).gc(); console.log(name, 'retained in flight', ((process.memoryUsage().heapUsed - b) / 2000).toFixed(0)); await Promise.all(list);
}
process.exit(0);
