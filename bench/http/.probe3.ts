import { apiKeyAuth, HttpClient, subscribe, UndiciTransport } from '@tinkex/http';
import { Pool } from 'undici';
import { measure } from './measure.js';
import { startEchoServer } from './start-server.js';
const payload = { model_id: 'm', prompt: { tokens: Array.from({ length: 32 }, (_, index) => index) }, num_samples: 1 };
const server = await startEchoServer();
const pool = new Pool(server.url, { connections: 64 });
const transport = new UndiciTransport({ pools: { sample: 64 }, proxy: false });
const client = new HttpClient({ baseUrl: server.url, auth: apiKeyAuth('tml-bench'), transport });
let headers: Record<string,string> = {};
await new HttpClient({ baseUrl: server.url, auth: apiKeyAuth('tml-bench'), transport: { send: (r) => { headers = {...r.headers}; return transport.send(r); }, close: async () => undefined } }).request({ method: 'POST', path: '/echo', body: payload, pool: 'sample' });
const raw = async () => (await pool.request({ method: 'POST', path: '/echo', headers, body: JSON.stringify(payload) })).body.json();
const ours = async () => client.request({ method: 'POST', path: '/echo', body: payload, pool: 'sample' });

const variants: Record<string, () => Promise<unknown>> = { raw };
if (process.env['TRANSPORT']) variants['transport'] = async () => { const r = await transport.send({ method: 'POST', url: server.url + '/echo', headers, body: JSON.stringify(payload), pool: 'sample' }); return JSON.parse(Buffer.from(await r.body.bytes()).toString()); };
const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!;
for (const n of [1024]) {
  const acc: Record<string, number[]> = {}; const thr: Record<string, number[]> = {};
  for (const f of Object.values(variants)) await measure(f, 6000, n);
  for (let i = 0; i < Number(process.env['R'] ?? 25); i++) for (const [name, f] of Object.entries(variants)) { const s = await measure(f, Math.max(1000, n * 2), n); (acc[name] ??= []).push(s.cpuMicros); (thr[name] ??= []).push(s.callsPerSecond); }
  for (const name of Object.keys(variants)) console.log(n, name, med(acc[name]!.slice()).toFixed(1), 'ratio', med(acc[name]!.map((v, i) => v / acc['raw']![i]!)).toFixed(3), 'thr', med(thr[name]!.map((v, i) => v / thr['raw']![i]!)).toFixed(3));
}
process.exit(0);
