import { median } from './statistics.js';
import { collectGarbage, stopwatch } from './stopwatch.js';

/** The median CPU time of a piece of synchronous work in milliseconds, each time from a clean heap. Time on the wall would count other processes. */
export function medianCpuMs(work: () => unknown, { rounds = 9, warmUpRounds = 15 } = {}): number {
  const times: number[] = [];
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    collectGarbage();
    const stop = stopwatch();
    const result = work();
    const { cpuMs } = stop();
    if (result === undefined) throw new Error('Work must return what it made, or it may be optimised away.');
    if (round >= 0) times.push(cpuMs);
  }
  return median(times);
}
