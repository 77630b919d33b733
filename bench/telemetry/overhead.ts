/**
 * What telemetry costs a request, as CPU time compared with a client that has no instrumentation at all.
 *
 *     pnpm exec tsc -b packages/telemetry && cd bench && node --import tsx telemetry/overhead.ts [--rounds 40] [--requests 800] [--copies 2]
 *
 * Each contender runs in processes of its own (`--copies` of each, because two processes with the same code differ too), the server in
 * another. In each round every process runs once, one at a time, in an order that changes. Reported is the median of each contender's times,
 * and the ratio of the medians.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const contenders = [
  { id: 'bare', name: 'no instrumentation at all' },
  { id: 'none', name: 'no subscribers', goal: 1.02 },
  { id: 'logger-off-level', name: 'logger, off-level', goal: 1.05 },
  { id: 'metrics', name: 'metrics', goal: 1.15 },
  { id: 'logger-debug', name: 'logger at debug, empty sink' },
] as const;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    requests: { type: 'string', default: '800' },
    copies: { type: 'string', default: '2' },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const requests = Number(values.requests);
const copies = Number(values.copies);

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('A process of the benchmark ended early.'));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}

async function start(file: string, ...args: string[]): Promise<{ readonly child: ChildProcess; readonly greeting: unknown }> {
  const child = fork(new URL(file, import.meta.url), args, { execArgv: process.execArgv });
  return { child, greeting: await nextMessage(child) };
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? Number.NaN) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

const server = await start('./echo-server.ts');
const baseUrl = `http://127.0.0.1:${String(server.greeting)}`;
const runners: { readonly id: string; readonly child: ChildProcess }[] = [];
for (let copy = 0; copy < copies; copy += 1) {
  for (const { id } of contenders) runners.push({ id, child: (await start('./contender.ts', id, baseUrl)).child });
}

const times = new Map<string, number[]>(contenders.map(({ id }) => [id, []]));
const warmUpRounds = 3;
for (let round = -warmUpRounds; round < rounds; round += 1) {
  const turned = runners.map((_, index) => runners[(index + round + warmUpRounds) % runners.length]);
  for (const runner of round % 2 === 0 ? turned : turned.reverse()) {
    if (runner === undefined) continue;
    runner.child.send(round < 0 ? requests * 3 : requests);
    const microseconds = Number(await nextMessage(runner.child));
    if (round >= 0) times.get(runner.id)?.push(microseconds);
  }
}

const base = median(times.get('bare') ?? []);
const results = contenders.map(({ id, name, ...rest }) => {
  const cpu = median(times.get(id) ?? []);
  return { name, cpuMicroseconds: Math.round(cpu * 10) / 10, ratio: Math.round((cpu / base) * 1_000) / 1_000, ...rest };
});
console.table(
  results.map(({ name, cpuMicroseconds, ratio, ...rest }) => ({
    contender: name,
    'CPU µs a request': cpuMicroseconds,
    ratio,
    goal: 'goal' in rest ? rest.goal : '',
  })),
);
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify({ rounds, requests, copies, node: process.version, results }, undefined, 2)}\n`);
}
for (const { child } of [...runners, server]) child.disconnect();
