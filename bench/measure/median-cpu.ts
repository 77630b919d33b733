import { median } from './statistics.js';
import { collectGarbage, stopwatch } from './stopwatch.js';

/** The median CPU time of synchronous work in milliseconds, each time with a clean heap. Wall time would include other processes. */
export function medianCpuMs(work: () => unknown, { rounds = 9, warmUpRounds = 15 } = {}): number {
  const times: number[] = [];
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    collectGarbage();
    const stop = stopwatch();
    const result = work();
    const { cpuMs } = stop();
    if (result === undefined) throw new Error('Return the result of the work, or the compiler may optimize the work away.');
    if (round >= 0) times.push(cpuMs);
  }
  return median(times);
}
