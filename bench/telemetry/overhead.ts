/**
 * What telemetry costs a request, as CPU time compared with a client that has no instrumentation at all.
 *
 *     pnpm exec tsc -b packages/telemetry && node --import tsx bench/telemetry/overhead.ts [--rounds 60] [--requests 400]
 *
 * All contenders run in one process, one after the other in each round, in an order that changes; what is reported is the median over the
 * rounds of the ratio within a round, so that a busy machine disturbs all of them alike. The server runs in another process.
 */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type HttpClient, HttpClient as InstrumentedClient } from '@tinkex/http';
import { attachLogger, attachMetrics } from '@tinkex/telemetry';
import { loadBareHttp } from './bare-http.js';

interface Contender {
  readonly name: string;
  readonly goal?: number;
  readonly client: HttpClient;
  /** Attaches what is measured; returns what takes it away. */
  attach(): () => void;
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '60' }, requests: { type: 'string', default: '400' }, json: { type: 'string' } },
});
const rounds = Number(values.rounds);
const requests = Number(values.requests);
const inFlight = 16;
const nothing = (): void => undefined;
const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const server = fork(new URL('./echo-server.ts', import.meta.url), { execArgv: process.execArgv });
const port = await new Promise<number>((resolve) => server.once('message', (message) => resolve(Number(message))));
const options = { baseUrl: `http://127.0.0.1:${port}`, headers: { 'x-api-key': 'tml-bench' } };
const { HttpClient: BareClient } = await loadBareHttp();
const bare = new BareClient(options);
const instrumented = new InstrumentedClient(options);

const contenders: readonly Contender[] = [
  { name: 'no instrumentation at all', client: bare, attach: () => nothing },
  { name: 'no subscribers', goal: 1.02, client: instrumented, attach: () => nothing },
  { name: 'logger, off-level', goal: 1.05, client: instrumented, attach: () => attachLogger({ level: 'warn', sink: quiet }).detach },
  { name: 'metrics', goal: 1.15, client: instrumented, attach: () => attachMetrics().detach },
  { name: 'logger at debug, empty sink', client: instrumented, attach: () => attachLogger({ level: 'debug', sink: quiet }).detach },
];

const body = { prompt: Array.from({ length: 32 }, (_, index) => index), max_tokens: 64 };

async function lane(client: HttpClient, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await client.request({ method: 'POST', path: '/api/v1/asample', body, requestType: 'Sample' });
}

/** CPU time of one request, microseconds. */
async function measure({ client, attach }: Contender): Promise<number> {
  const detach = attach();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, () => lane(client, Math.ceil(requests / inFlight))));
  const { user, system } = process.cpuUsage(before);
  detach();
  return (user + system) / (Math.ceil(requests / inFlight) * inFlight);
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? Number.NaN) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

for (let warmUp = 0; warmUp < 5; warmUp += 1) for (const contender of contenders) await measure(contender);

const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  const order = contenders.map((_, index) => contenders[(index + round) % contenders.length] as Contender);
  for (const contender of round % 2 === 0 ? order : order.reverse()) times.get(contender.name)?.push(await measure(contender));
}

const base = times.get('no instrumentation at all') ?? [];
const results = contenders.map(({ name, goal }) => {
  const own = times.get(name) ?? [];
  const ratio = median(own.map((time, round) => time / (base[round] ?? Number.NaN)));
  return { name, cpuMicroseconds: Math.round(median(own) * 10) / 10, ratio: Math.round(ratio * 1_000) / 1_000, ...(goal === undefined ? {} : { goal }) };
});
console.table(
  results.map(({ name, cpuMicroseconds, ratio, goal }) => ({ contender: name, 'CPU µs a request': cpuMicroseconds, ratio, goal: goal ?? '' })),
);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rounds, requests, inFlight, node: process.version, results }, undefined, 2)}\n`);

await Promise.all([bare.close(), instrumented.close()]);
server.disconnect();
