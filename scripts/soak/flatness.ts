import type { Measurement } from './measure.js';

/** What is watched, and how much more of it the end may have than the beginning: a share and, for small numbers, an amount. */
const TOLERANCES = {
  heapMegabytes: { share: 0.15, amount: 8 },
  sockets: { share: 0.15, amount: 20 },
  timers: { share: 0.15, amount: 50 },
  handles: { share: 0.15, amount: 60 },
} as const satisfies Partial<Record<keyof Measurement, { share: number; amount: number }>>;

/** The part of the run in which caches fill and pools open; it does not count. */
const WARM_UP_SHARE = 0.25;

/**
 * What grew: one line each. The last third is compared with the first third after the warm-up, by the value that nine in ten measurements do
 * not exceed: a restart of the server empties the pools for a while, and the restarts do not fall evenly into the thirds.
 */
export function growth(measurements: readonly Measurement[]): string[] {
  const counted = measurements.slice(Math.floor(measurements.length * WARM_UP_SHARE));
  const third = Math.floor(counted.length / 3);
  if (third < 3) return [`only ${measurements.length} measurements: too few to judge`];
  const problems: string[] = [];
  for (const [name, { share, amount }] of Object.entries(TOLERANCES)) {
    const values = counted.map((measurement) => measurement[name as keyof typeof TOLERANCES]);
    const before = high(values.slice(0, third));
    const after = high(values.slice(-third));
    const allowed = before * (1 + share) + amount;
    if (after > allowed)
      problems.push(`${name} grew from ${before.toFixed(1)} to ${after.toFixed(1)}; up to ${allowed.toFixed(1)} is allowed`);
  }
  return problems;
}

function high(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.9)] ?? 0;
}
