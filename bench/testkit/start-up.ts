import { startChild } from './child.js';

/** From the start of a process to the first reply of a server in it: the testkit with its engine, against bare Node. In turns. */
const ROUNDS = 7;
const times = { testkit: [] as number[], bare: [] as number[] };
for (let round = 0; round < ROUNDS; round++) {
  for (const kind of ['testkit', 'bare'] as const) {
    const { line } = await startChild('./first-reply.ts', kind);
    times[kind].push(Number(line));
  }
}
const median = (values: number[]): number => [...values].sort((left, right) => left - right)[values.length >> 1] ?? 0;
const rows = [
  { 'testkit ms': Math.round(median(times.testkit)), 'bare ms': Math.round(median(times.bare)), 'difference ms': Math.round(median(times.testkit) - median(times.bare)) },
];
console.table(rows);
console.log(JSON.stringify({ benchmark: 'testkit/start-up', goal: 'difference <= 150 ms', rows }));
