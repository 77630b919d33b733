/**
 * A small JSON POST through the whole pipeline, beside raw `undici.request` and openai's client, on the same server.
 * Rounds alternate, and what is compared is the median of the ratios within a round: the machine's mood cancels out.
 *
 * Run: npx tsx --conditions=@tinkex/source bench/http/small-post.ts
 */
import { apiKeyAuth, HttpClient, subscribe, UndiciTransport } from '@tinkex/http';
import OpenAI from 'openai';
import { Pool } from 'undici';
import { measure, median, type Sample } from './measure.js';
import { startEchoServer } from './start-server.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 25);
/** Short turns, many of them: a busy machine then disturbs all alike. */
const CALLS_PER_TURN = 1_500;
const CONNECTIONS = 64;
const payload = { model_id: 'm', prompt: { tokens: Array.from({ length: 32 }, (_, index) => index) }, num_samples: 1 };

const server = await startEchoServer();
const pool = new Pool(server.url, { connections: CONNECTIONS });
const transport = new UndiciTransport({ pools: { sample: CONNECTIONS }, proxy: false });
const client = new HttpClient({ baseUrl: server.url, auth: apiKeyAuth('tml-bench'), transport });
const openai = new OpenAI({ apiKey: 'sk-bench', baseURL: server.url, maxRetries: 2 });

// Raw undici sends what our pipeline sends, so that both do the same HTTP exchange.
let headers: Record<string, string> = {};
await new HttpClient({
  baseUrl: server.url,
  auth: apiKeyAuth('tml-bench'),
  transport: {
    send: (request) => {
      headers = { ...request.headers };
      return transport.send(request);
    },
    close: async () => undefined,
  },
}).request({ method: 'POST', path: '/echo', body: payload, pool: 'sample' });

const raw = async (): Promise<unknown> => {
  const response = await pool.request({ method: 'POST', path: '/echo', headers, body: JSON.stringify(payload) });
  return response.body.json();
};
const ours = async (): Promise<unknown> => client.request({ method: 'POST', path: '/echo', body: payload, pool: 'sample' });
const theirs = (): Promise<unknown> => openai.post('/echo', { body: payload });

interface Row {
  readonly client: string;
  readonly inFlight: number;
  readonly cpuMicros: number;
  readonly callsPerSecond: number;
  readonly cpuRatio: number;
  readonly throughputRatio: number;
}

const rows: Row[] = [];
for (const inFlight of [1, 64, 1024]) {
  const count = Math.max(CALLS_PER_TURN, 2 * inFlight);
  for (const call of [raw, ours]) await measure(call, 6_000, inFlight);
  await measure(theirs, 500, Math.min(inFlight, 64));
  const samples: Record<string, Sample[]> = { 'undici.request': [], '@tinkex/http': [], '@tinkex/http, events watched': [], openai: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? [raw, ours] : [ours, raw];
    for (const call of order) samples[call === raw ? 'undici.request' : '@tinkex/http']?.push(await measure(call, count, inFlight));
    const end = subscribe('tinkex:http:request:stop', () => undefined);
    samples['@tinkex/http, events watched']?.push(await measure(ours, count, inFlight));
    end();
  }
  // By itself: the garbage it leaves would otherwise be collected at the others' expense.
  for (let round = 0; round < Math.min(5, ROUNDS); round += 1) {
    samples['openai']?.push(await measure(theirs, Math.max(Math.ceil(count / 10), inFlight), inFlight));
  }
  const baseline = samples['undici.request'] ?? [];
  for (const [name, runs] of Object.entries(samples)) {
    rows.push({
      client: name,
      inFlight,
      cpuMicros: round(median(runs.map((run) => run.cpuMicros))),
      callsPerSecond: Math.round(median(runs.map((run) => run.callsPerSecond))),
      cpuRatio: round(median(runs.map((run, index) => run.cpuMicros / (baseline[index]?.cpuMicros ?? Number.NaN)))),
      throughputRatio: round(median(runs.map((run, index) => run.callsPerSecond / (baseline[index]?.callsPerSecond ?? Number.NaN)))),
    });
  }
}

console.table(rows);
console.log(JSON.stringify({ benchmark: 'http/small-post', node: process.version, connections: CONNECTIONS, rounds: ROUNDS, rows }));
await client.close();
await transport.close();
await pool.close();
server.close();

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
