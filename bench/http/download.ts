/**
 * 64 MiB streamed through `HttpClient.stream` and through raw `undici.request`: CPU, and how far memory grows beyond what a
 * process that reads nothing needs.
 *
 * Run: npx tsx --conditions=@tinkex/source bench/http/download.ts
 */
import { HttpClient, UndiciTransport } from '@tinkex/http';
import { Pool } from 'undici';
import { median } from './measure.js';
import { startEchoServer } from './start-server.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const server = await startEchoServer();
const pool = new Pool(server.url);
const transport = new UndiciTransport({ proxy: false });
const client = new HttpClient({ baseUrl: server.url, transport });

async function drain(body: AsyncIterable<Uint8Array>): Promise<{ bytes: number; peakBytes: number }> {
  let bytes = 0;
  let peakBytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    const { heapUsed, external } = process.memoryUsage();
    peakBytes = Math.max(peakBytes, heapUsed + external);
  }
  return { bytes, peakBytes };
}

const contestants = {
  'undici.request': async () => drain((await pool.request({ method: 'GET', path: '/file' })).body),
  '@tinkex/http': async () => drain((await client.stream({ method: 'GET', path: '/file' })).body),
};

const runs: Record<string, { cpuMs: number; peakMiB: number }[]> = { 'undici.request': [], '@tinkex/http': [] };
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const [name, download] of Object.entries(contestants)) {
    const before = process.memoryUsage();
    const cpu = process.cpuUsage();
    const { bytes, peakBytes } = await download();
    if (bytes !== 64 * 1024 * 1024) throw new Error(`${name} read ${bytes} bytes.`);
    const { user, system } = process.cpuUsage(cpu);
    // The first round warms up.
    if (round > 0)
      runs[name]?.push({ cpuMs: (user + system) / 1_000, peakMiB: (peakBytes - before.heapUsed - before.external) / 1024 ** 2 });
  }
}

const baseline = runs['undici.request'] ?? [];
const rows = Object.entries(runs).map(([name, samples]) => ({
  client: name,
  cpuMs: Math.round(median(samples.map((sample) => sample.cpuMs))),
  peakMiB: Math.round(median(samples.map((sample) => sample.peakMiB))),
  cpuRatio: Math.round(median(samples.map((sample, index) => sample.cpuMs / (baseline[index]?.cpuMs ?? Number.NaN))) * 100) / 100,
}));
console.table(rows);
console.log(JSON.stringify({ benchmark: 'http/download', node: process.version, bytes: 64 * 1024 * 1024, rounds: ROUNDS, rows }));
await client.close();
await transport.close();
await pool.close();
server.close();
