import { type Attachment, type AttachOptions, Consumer } from '../attach/consumer.js';
import type { Labels } from './family.js';
import { httpMetrics } from './http-metrics.js';
import { operationMetrics } from './operation-metrics.js';
import { prometheusText } from './prometheus-text.js';
import { type MetricsSnapshot, Registry } from './registry.js';
import { sessionMetrics } from './session-metrics.js';

/** Options of {@link attachMetrics}. */
export interface MetricsOptions extends AttachOptions {
  /** How many series (a name with one set of labels) may exist. Beyond that, new label values share the series labeled `other`. Default 1,000. */
  readonly maxSeries?: number | undefined;
}

/** Attached metrics. You can still read them after `detach()`. */
export interface MetricsAttachment extends Attachment {
  /** All metrics at this moment, as plain data. */
  snapshot(): MetricsSnapshot;
  /** All metrics in the Prometheus text format; serve it as `text/plain; version=0.0.4`. */
  prometheus(): string;
  /**
   * The sum over all series of one name that have these labels; for a histogram, the number of values. 0 if there are none.
   * For example `total('tinkex_http_requests_total', { status: '429' })`.
   */
  total(name: string, labels?: Labels): number;
}

/**
 * Counts and measures the SDK's events: counters, gauges, and histograms of latency and size with fixed buckets. Memory is bounded: each
 * histogram has a fixed size, and the number of series has a limit.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is not a URL.
 */
export function attachMetrics(options: MetricsOptions = {}): MetricsAttachment {
  return new Metrics(options);
}

class Metrics extends Consumer implements MetricsAttachment {
  readonly #registry: Registry;

  constructor(options: MetricsOptions) {
    super('attachMetrics', options);
    this.#registry = new Registry(options.maxSeries ?? 1_000);
    for (const register of [httpMetrics, operationMetrics, sessionMetrics]) this.listen(register(this.#registry));
  }

  snapshot(): MetricsSnapshot {
    return this.#registry.snapshot();
  }

  prometheus(): string {
    return prometheusText(this.#registry.families);
  }

  total(name: string, labels?: Labels): number {
    return this.#registry.total(name, labels);
  }
}
