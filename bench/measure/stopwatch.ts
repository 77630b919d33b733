/** What the operating system says that this process has used. */
export interface Usage {
  /** User and system time of all threads. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Starts measuring; the function it returns tells what was used since. */
export function stopwatch(): () => Usage {
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  return () => {
    const wallMs = performance.now() - before;
    const { user, system } = process.cpuUsage(cpuBefore);
    return { cpuMs: (user + system) / 1_000, wallMs };
  };
}

/** The most memory this process ever had resident. */
export function peakRssBytes(): number {
  return process.resourceUsage().maxRSS * 1_024;
}

/** Collects garbage, so that nobody pays for what was left before. Needs `--expose-gc`. */
export function collectGarbage(): void {
  if (global.gc === undefined) throw new Error('Run with --expose-gc.');
  global.gc();
  global.gc();
}

/** What the heap and the buffers outside of it hold after a collection. */
export function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
