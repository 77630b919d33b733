/** One measured run. */
export interface Sample {
  /** CPU of this process per call, microseconds. */
  readonly cpuMicros: number;
  readonly callsPerSecond: number;
}

/** Makes `count` calls with a fixed number in flight. */
export async function measure(call: () => Promise<unknown>, count: number, inFlight: number): Promise<Sample> {
  let started = 0;
  const worker = async (): Promise<void> => {
    while (started < count) {
      started += 1;
      await call();
    }
  };
  const cpu = process.cpuUsage();
  const begin = process.hrtime.bigint();
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMicros: (user + system) / count, callsPerSecond: count / seconds };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
