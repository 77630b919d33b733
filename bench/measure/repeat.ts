import { stopwatch } from './stopwatch.js';

/** Makes `calls` calls, never more than `inFlight` at once. */
export async function keepInFlight(call: () => PromiseLike<unknown>, calls: number, inFlight: number): Promise<void> {
  let left = calls;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, calls) }, lane));
}

/** So many calls at once, after so many that are not counted. */
export interface Load {
  readonly inFlight: number;
  readonly calls: number;
  readonly warmUpCalls: number;
}

/**
 * What a call costs while many are made without a break. The clock starts and stops in the middle of the stream: between two bursts, with nothing in flight, a
 * collection of the heap takes with it the shapes of all objects that come and go, and with them the compiled code that knew them; what follows would measure the
 * compiler.
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
