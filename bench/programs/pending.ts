/** Calls that the server does not answer yet: the memory of each, and the CPU of waiting. */
import { program } from '../measure/program.js';
import { median } from '../measure/statistics.js';
import { heldBytes, stopwatch } from '../measure/stopwatch.js';
import { samplerOf } from './sampling-contenders.js';

interface Task {
  readonly contender: string;
  readonly baseUrl: string;
  readonly calls: number;
  /** How many polls the server must hold before all calls count as pending: at most the number of connections. */
  readonly held: number;
  readonly idleSeconds: number;
}

/** Garbage with a destructor, such as a stream or a buffer of a socket, is freed some turns after the collection that finds it. */
const SETTLE_MS = 300;
const WARM_UPS = 3;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What is held when the leftovers of earlier calls are gone: counted before, they would be missing afterwards and make calls look free. */
async function settledBytes(): Promise<number> {
  for (let round = 0; round < 2; round += 1) {
    heldBytes();
    await pause(SETTLE_MS);
  }
  return heldBytes();
}

await program(async ({ contender, baseUrl, calls, held, idleSeconds }: Task) => {
  const control = async (action: string): Promise<{ held: number }> =>
    (await (await fetch(`${baseUrl}/bench/${action}`, { method: 'POST' })).json()) as { held: number };
  const { sample } = await samplerOf(contender, baseUrl);
  const startAll = async (): Promise<PromiseLike<unknown>[]> => {
    await control('hold');
    const calling = Array.from({ length: calls }, () => sample());
    while ((await control('held')).held < held) await pause(20);
    return calling;
  };
  // Opens all connections and compiles what runs often, before counting begins: a contender that needs fewer connections while the server answers would open
  // the rest in the measured part.
  for (let round = 0; round < WARM_UPS; round += 1) {
    const calling = await startAll();
    await control('release');
    await Promise.all(calling);
  }
  const before = await settledBytes();
  const pending = await startAll();
  const bytesPerCall = ((await settledBytes()) - before) / calls;
  // The collection continues in the background for a moment.
  await pause(1_000);
  // The median second: an idle runtime occasionally collects its heap, whatever is pending, and that second costs as much as minutes of waiting.
  const percents: number[] = [];
  for (let second = 0; second < idleSeconds; second += 1) {
    const stop = stopwatch();
    await pause(1_000);
    const { cpuMs, wallMs } = stop();
    percents.push((cpuMs / wallMs) * 100);
  }
  await control('release');
  await Promise.all(pending);
  return { bytesPerCall, idleCpuPercent: median(percents) };
});
