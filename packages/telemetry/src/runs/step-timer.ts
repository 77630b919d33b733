import { type Clock, elapsedMs, type MonotonicTime } from '@tinkex/http/clock';
import type { JsonRecord } from './run-json.js';

/** One measured piece of work within a step, in seconds since the step began. */
export interface TimingSpan {
  readonly name: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/**
 * Metrics of the spans of a step: `time/<name>` for a name that occurs once; `:total`, `:count`, `:mean` and `:max` for one that occurs more often; and
 * `time/total`, the length of the step.
 */
export function timingMetrics(spans: readonly TimingSpan[], totalSeconds: number): Record<string, number> {
  const byName = new Map<string, number[]>();
  for (const { name, startSeconds, endSeconds } of spans) {
    const durations = byName.get(name) ?? [];
    durations.push(endSeconds - startSeconds);
    byName.set(name, durations);
  }
  const metrics: Record<string, number> = {};
  for (const [name, durations] of byName) Object.assign(metrics, describeDurations(`time/${name}`, durations));
  metrics['time/total'] = totalSeconds;
  return metrics;
}

/** A line of `timing_spans.jsonl`. */
export function timingRecord(step: number, spans: readonly TimingSpan[]): JsonRecord {
  return {
    step,
    spans: spans.map(({ name, startSeconds, endSeconds }) => ({
      name,
      duration: endSeconds - startSeconds,
      wall_start: startSeconds,
      wall_end: endSeconds,
    })),
  };
}

/** Measures the work of one step. */
export class StepTimer {
  readonly spans: TimingSpan[] = [];
  readonly #clock: Clock;
  readonly #startedAt: MonotonicTime;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonicMs();
  }

  /** Runs and measures `work`, also when it fails. */
  async measure<T>(name: string, work: () => T | PromiseLike<T>): Promise<Awaited<T>> {
    const startSeconds = this.#elapsedSeconds();
    try {
      return await work();
    } finally {
      this.spans.push({ name, startSeconds, endSeconds: this.#elapsedSeconds() });
    }
  }

  /** The metrics of the spans so far; `time/total` reaches from the timer's creation until now. */
  metrics(): Record<string, number> {
    return timingMetrics(this.spans, this.#elapsedSeconds());
  }

  #elapsedSeconds(): number {
    return elapsedMs(this.#clock, this.#startedAt) / 1_000;
  }
}

function describeDurations(name: string, durations: readonly number[]): Record<string, number> {
  const total = durations.reduce((sum, duration) => sum + duration, 0);
  const count = durations.length;
  if (count === 1) return { [name]: total };
  return { [`${name}:total`]: total, [`${name}:count`]: count, [`${name}:mean`]: total / count, [`${name}:max`]: Math.max(...durations) };
}
