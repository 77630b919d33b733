/** What this process used, according to the operating system. */
export interface Usage {
  /** User and system time of all threads. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Starts measuring. The function it returns gives the usage since then. */
export function stopwatch(): () => Usage {
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  return () => {
    const wallMs = performance.now() - before;
    const { user, system } = process.cpuUsage(cpuBefore);
    return { cpuMs: (user + system) / 1_000, wallMs };
  };
}

/** Peak resident memory of this process. */
export function peakRssBytes(): number {
  return process.resourceUsage().maxRSS * 1_024;
}

/** Collects garbage, so that the next measurement does not pay for earlier work. Needs `--expose-gc`. */
export function collectGarbage(): void {
  if (global.gc === undefined) throw new Error('Run with --expose-gc.');
  global.gc();
  global.gc();
}

/** Bytes in the heap and in buffers outside it, after a collection. */
export function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
