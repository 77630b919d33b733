/** Small sampling calls, so many in flight. */
import { program } from '../measure/program.js';
import { keepInFlight } from '../measure/repeat.js';
import { collectGarbage, stopwatch } from '../measure/stopwatch.js';
import { samplerOf } from './sampling-contenders.js';

interface Task {
  readonly contender: string;
  readonly baseUrl: string;
  readonly inFlight: number;
  readonly calls: number;
  readonly warmUpCalls: number;
}

await program(async ({ contender, baseUrl, inFlight, calls, warmUpCalls }: Task) => {
  const { sample } = await samplerOf(contender, baseUrl);
  await keepInFlight(sample, warmUpCalls, inFlight);
  collectGarbage();
  const stop = stopwatch();
  await keepInFlight(sample, calls, inFlight);
  const { cpuMs, wallMs } = stop();
  return { cpuMicrosPerCall: (cpuMs * 1_000) / calls, callsPerSecond: (calls / wallMs) * 1_000 };
});
