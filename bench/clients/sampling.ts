/**
 * Small sampling calls: the SDK against raw undici doing the same two requests, at 1, 64 and 1,024 calls in flight, and the memory
 * of a pending call. Prints a table and a line of JSON.
 *
 *   node --expose-gc --import tsx bench/clients/sampling.ts [--quick]
 *
 * Runs on the built packages (`pnpm build` first): tsx wraps every function of the sources it compiles, which would be measured too.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type Contender, rawUndici, tinkex } from './sampling-contenders.js';

/** `--quick` gives a first impression in seconds. */
const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 3 : 7;
const CALLS: Readonly<Record<number, number>> = isQuick ? { 1: 300, 64: 1_280, 1024: 2_048 } : { 1: 2_000, 64: 8_000, 1024: 10_240 };
const PENDING = 1_000;

interface Measure {
  readonly cpuMsPerCall: number;
  readonly callsPerSecond: number;
}

async function run(contender: Contender, inFlight: number, calls: number): Promise<Measure> {
  let left = calls;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await contender.sample();
  };
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (performance.now() - before) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { cpuMsPerCall: (user + system) / 1000 / calls, callsPerSecond: calls / seconds };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Rounds alternate, so that a slow moment of the machine hits both. The ratio is taken round by round. */
async function compare(raw: Contender, sdk: Contender, inFlight: number) {
  const calls = CALLS[inFlight] ?? 1_000;
  await run(raw, inFlight, calls / 2);
  await run(sdk, inFlight, calls / 2);
  const rounds: { raw: Measure; sdk: Measure }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ raw: await run(raw, inFlight, calls), sdk: await run(sdk, inFlight, calls) });
  }
  return {
    inFlight,
    rawCpuMs: median(rounds.map((round) => round.raw.cpuMsPerCall)),
    sdkCpuMs: median(rounds.map((round) => round.sdk.cpuMsPerCall)),
    cpuRatio: median(rounds.map((round) => round.sdk.cpuMsPerCall / round.raw.cpuMsPerCall)),
    rawPerSecond: median(rounds.map((round) => round.raw.callsPerSecond)),
    sdkPerSecond: median(rounds.map((round) => round.sdk.callsPerSecond)),
    throughputRatio: median(rounds.map((round) => round.sdk.callsPerSecond / round.raw.callsPerSecond)),
  };
}

/** Heap bytes per call while the server holds the polls. */
async function pendingBytes(baseUrl: string, contender: Contender): Promise<number> {
  const post = (path: string) => fetch(baseUrl + path, { method: 'POST' });
  await run(contender, PENDING, PENDING);
  const before = settledHeap();
  await post('/hold');
  const calls = Array.from({ length: PENDING }, () => contender.sample());
  for (;;) {
    const { held } = (await (await post('/held')).json()) as { held: number };
    if (held === PENDING) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const bytes = (settledHeap() - before) / PENDING;
  await post('/release');
  await Promise.all(calls);
  return bytes;
}

function settledHeap(): number {
  if (global.gc === undefined) throw new Error('Run with --expose-gc.');
  global.gc();
  global.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const server = fork(new URL('./sampling-server.ts', import.meta.url), { silent: true });
server.stderr?.pipe(process.stderr);
const [portLine] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
const baseUrl = `http://127.0.0.1:${Number(portLine.toString())}`;
const raw = rawUndici(baseUrl);
const sdk = await tinkex(baseUrl);

const rows = [];
for (const inFlight of [1, 64, 1024]) {
  const row = await compare(raw, sdk, inFlight);
  rows.push(row);
  console.error(`${inFlight} in flight: CPU ${row.cpuRatio.toFixed(2)}x, throughput ${row.throughputRatio.toFixed(2)}x`);
}
const memory = { rawBytes: await pendingBytes(baseUrl, raw), sdkBytes: await pendingBytes(baseUrl, sdk) };

console.table(
  rows.map((row) => ({
    'in flight': row.inFlight,
    'raw ms CPU': row.rawCpuMs.toFixed(3),
    'sdk ms CPU': row.sdkCpuMs.toFixed(3),
    'CPU ratio (<= 1.25)': row.cpuRatio.toFixed(2),
    'raw /s': Math.round(row.rawPerSecond),
    'sdk /s': Math.round(row.sdkPerSecond),
    'throughput ratio (>= 0.8)': row.throughputRatio.toFixed(2),
  })),
);
console.log(`pending call: raw ${Math.round(memory.rawBytes)} B, sdk ${Math.round(memory.sdkBytes)} B (goal: < 8192 B beyond raw)`);
console.log(JSON.stringify({ benchmark: 'clients/sampling', node: process.version, rows, memory }));

await Promise.all([raw.close(), sdk.close()]);
server.disconnect();
