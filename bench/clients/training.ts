/**
 * 100 pipelined training steps (forwardBackward + optimStep) of 64 x 512 tokens: the SDK against raw undici making the same
 * exchanges with bodies encoded beforehand. Prints a table and a line of JSON.
 *
 *   node --expose-gc --conditions=@tinkex/source --import tsx bench/clients/training.ts [--quick]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { makeBatches, rawUndici, type Trainer, tinkex } from './training-contenders.js';

const isQuick = process.argv.includes('--quick');
const STEPS = 100;
const ROUNDS = isQuick ? 3 : 7;
const RUNS = 4;
const WARM_UP_ROUNDS = 6;
const DATUMS = 64;
const TOKENS = 512;

interface Measure {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Starts from a clean heap, so that nobody pays for the garbage of the one before, and runs long enough to pay for its own. */
async function measure(trainer: Trainer): Promise<Measure> {
  if (global.gc === undefined) throw new Error('Run with --expose-gc.');
  global.gc();
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  for (let run = 0; run < RUNS; run += 1) await trainer.train();
  const wallMs = performance.now() - before;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { cpuMs: (user + system) / 1000 / RUNS, wallMs: wallMs / RUNS };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const server = fork(new URL('./training-server.ts', import.meta.url), [String(DATUMS), String(TOKENS)], { silent: true });
server.stderr?.pipe(process.stderr);
const [portLine] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
const baseUrl = `http://127.0.0.1:${Number(portLine.toString())}`;
const batches = makeBatches(STEPS, DATUMS, TOKENS);
const trainers = [rawUndici(baseUrl, batches, true), rawUndici(baseUrl, batches, false), await tinkex(baseUrl, batches)] as const;

/** The compiler needs a few hundred calls before either side runs at its own speed. */
for (let round = 0; round < WARM_UP_ROUNDS; round += 1) for (const trainer of trainers) await trainer.train();
/** Rounds alternate, so that a slow moment of the machine hits all. Ratios are taken round by round. */
const rounds: Measure[][] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const measures: Measure[] = [];
  for (const trainer of trainers) measures.push(await measure(trainer));
  rounds.push(measures);
}

const of = (index: number, key: keyof Measure) => median(rounds.map((measures) => measures[index]?.[key] ?? Number.NaN));
const ratio = (index: number, key: keyof Measure) =>
  median(rounds.map((measures) => (measures[trainers.length - 1]?.[key] ?? Number.NaN) / (measures[index]?.[key] ?? Number.NaN)));
const rows = trainers.map(({ name }, index) => ({
  name,
  cpuMs: of(index, 'cpuMs'),
  wallMs: of(index, 'wallMs'),
  sdkCpuRatio: ratio(index, 'cpuMs'),
  sdkWallRatio: ratio(index, 'wallMs'),
}));
console.table(
  rows.map((row) => ({
    who: row.name,
    'CPU ms': row.cpuMs.toFixed(0),
    'wall ms': row.wallMs.toFixed(0),
    'CPU of the SDK against it (goal <= 1.5)': row.sdkCpuRatio.toFixed(2),
    'wall of the SDK against it': row.sdkWallRatio.toFixed(2),
  })),
);
console.log(JSON.stringify({ benchmark: 'clients/training', node: process.version, steps: STEPS, datums: DATUMS, tokens: TOKENS, rows }));

await Promise.all(trainers.map((trainer) => trainer.close()));
server.disconnect();
