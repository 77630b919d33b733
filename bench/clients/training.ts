/**
 * 100 pipelined training steps (forwardBackward + optimStep) of 64 x 512 tokens: the SDK against raw undici making the same
 * exchanges with bodies encoded beforehand. Prints a table and a line of JSON.
 *
 *   node --conditions=@tinkex/source --import tsx bench/clients/training.ts [--quick]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { makeBatches, rawUndici, type Trainer, tinkex } from './training-contenders.js';

const isQuick = process.argv.includes('--quick');
const STEPS = 100;
const ROUNDS = isQuick ? 3 : 9;
const DATUMS = 64;
const TOKENS = 512;

interface Measure {
  readonly cpuMs: number;
  readonly wallMs: number;
}

async function measure(trainer: Trainer): Promise<Measure> {
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  await trainer.train();
  const wallMs = performance.now() - before;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { cpuMs: (user + system) / 1000, wallMs };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const server = fork(new URL('./training-server.ts', import.meta.url), [String(DATUMS), String(TOKENS)], { silent: true });
server.stderr?.pipe(process.stderr);
const [portLine] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
const baseUrl = `http://127.0.0.1:${Number(portLine.toString())}`;
const batches = makeBatches(STEPS, DATUMS, TOKENS);
const raw = rawUndici(baseUrl, batches);
const sdk = await tinkex(baseUrl, batches);

await raw.train();
await sdk.train();
/** Rounds alternate, so that a slow moment of the machine hits both. Ratios are taken round by round. */
const rounds: { raw: Measure; sdk: Measure }[] = [];
for (let round = 0; round < ROUNDS; round += 1) rounds.push({ raw: await measure(raw), sdk: await measure(sdk) });

const summary = {
  rawCpuMs: median(rounds.map((round) => round.raw.cpuMs)),
  sdkCpuMs: median(rounds.map((round) => round.sdk.cpuMs)),
  cpuRatio: median(rounds.map((round) => round.sdk.cpuMs / round.raw.cpuMs)),
  rawWallMs: median(rounds.map((round) => round.raw.wallMs)),
  sdkWallMs: median(rounds.map((round) => round.sdk.wallMs)),
  wallRatio: median(rounds.map((round) => round.sdk.wallMs / round.raw.wallMs)),
};
console.table([
  {
    'raw CPU ms': summary.rawCpuMs.toFixed(0),
    'sdk CPU ms': summary.sdkCpuMs.toFixed(0),
    'CPU ratio (<= 1.5)': summary.cpuRatio.toFixed(2),
    'raw wall ms': summary.rawWallMs.toFixed(0),
    'sdk wall ms': summary.sdkWallMs.toFixed(0),
    'wall ratio': summary.wallRatio.toFixed(2),
  },
]);
console.log(JSON.stringify({ benchmark: 'clients/training', node: process.version, steps: STEPS, datums: DATUMS, tokens: TOKENS, ...summary }));

await Promise.all([raw.close(), sdk.close()]);
server.disconnect();
