import type { Span } from '../../api/activity-views.js';

/** A time in which nothing was in flight: the server could have worked. */
export interface IdleGap {
  readonly startMs: number;
  readonly endMs: number;
}

/** Shorter pauses are the program's own work between two calls. */
const SMALLEST_SHARE = 0.1;

/** The gaps between spans, and how much of the whole time they are. */
export function idleGaps(spans: readonly Span[]): { readonly gaps: readonly IdleGap[]; readonly share: number } {
  const sorted = [...spans].sort((a, b) => a.startMs - b.startMs);
  const [first] = sorted;
  if (first === undefined) return { gaps: [], share: 0 };
  const lengths = sorted.map(({ startMs, endMs }) => endMs - startMs).sort((a, b) => a - b);
  const smallest = Math.max(1, (lengths[Math.floor(lengths.length / 2)] ?? 0) * SMALLEST_SHARE);
  const gaps: IdleGap[] = [];
  let endMs = first.endMs;
  for (const span of sorted) {
    if (span.startMs - endMs >= smallest) gaps.push({ startMs: endMs, endMs: span.startMs });
    endMs = Math.max(endMs, span.endMs);
  }
  const idleMs = gaps.reduce((sum, gap) => sum + gap.endMs - gap.startMs, 0);
  return { gaps, share: idleMs / Math.max(1, endMs - first.startMs) };
}

/**
 * How many optimizer steps were sent only after the pass before them had come back. Sent together, the step waits on the server and not in the program: that is the
 * commonest way to lose time.
 */
export function sequentialShare(spans: readonly Span[]): number {
  const passes = spans.filter(({ type }) => type === 'ForwardBackward');
  const steps = spans.filter(({ type }) => type === 'OptimStep');
  if (passes.length === 0 || steps.length === 0) return 0;
  const ends = passes.map(({ endMs }) => endMs).sort((a, b) => a - b);
  const starts = passes.map(({ startMs }) => startMs).sort((a, b) => a - b);
  const isSequential = ({ startMs }: Span): boolean => countUpTo(ends, startMs) === countUpTo(starts, startMs);
  return steps.filter(isSequential).length / steps.length;
}

function countUpTo(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
