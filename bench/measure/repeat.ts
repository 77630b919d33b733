import { stopwatch } from './stopwatch.js';

/** Makes `calls` calls, never more than `inFlight` at the same time. */
export async function keepInFlight(call: () => PromiseLike<unknown>, calls: number, inFlight: number): Promise<void> {
  let left = calls;
  const runCalls = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, calls) }, runCalls));
}

/** How many calls, how many of them at the same time, after how many that are not counted. */
export interface Load {
  readonly inFlight: number;
  readonly calls: number;
  readonly warmUpCalls: number;
}

/**
 * The cost of a call in an uninterrupted stream of calls. The clock starts and stops in the middle of the stream: between two bursts, with nothing in flight, a
 * heap collection discards the shapes of all short-lived objects, and with them the compiled code that was specialized for them. The next burst would then
 * measure the compiler.
 */
export async function costOfCalls(
  call: () => PromiseLike<unknown>,
  { inFlight, calls, warmUpCalls }: Load,
): Promise<{ readonly cpuMicrosPerCall: number; readonly callsPerSecond: number }> {
  let ended = 0;
  let stop = stopwatch();
  let usage = stop();
  const counted = async (): Promise<void> => {
    await call();
    ended += 1;
    if (ended === warmUpCalls) stop = stopwatch();
    else if (ended === warmUpCalls + calls) usage = stop();
  };
  await keepInFlight(counted, warmUpCalls + calls + inFlight, inFlight);
  return { cpuMicrosPerCall: (usage.cpuMs * 1_000) / calls, callsPerSecond: (calls / usage.wallMs) * 1_000 };
}
