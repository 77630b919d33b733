import { type AttachOptions, attach } from '../attach/attach.js';
import type { Attachment } from '../attach/attachment.js';
import { httpMetrics } from './http-metrics.js';
import type { Labels } from './labels.js';
import { recoveryMetrics } from './recovery-metrics.js';
import { type MetricsSnapshot, Registry } from './registry.js';
import { sessionMetrics } from './session-metrics.js';
import { workMetrics } from './work-metrics.js';

/** Options of {@link attachMetrics}. */
export interface MetricsOptions extends AttachOptions {
  /** How many series (a name with one set of labels) may exist; more share series labelled `other`. Default 1,000 (at most about 25 MB). */
  readonly maxSeries?: number;
}

/** Metrics that are attached. They can still be read after `detach()`. */
export interface MetricsAttachment extends Attachment {
  /** All metrics at this moment, as plain data. */
  snapshot(): MetricsSnapshot;
  /** All metrics in the Prometheus text format; serve it as `text/plain; version=0.0.4`. */
  prometheus(): string;
  /**
   * The sum over all series of one name that have these labels (the number of records, for a distribution); 0 if there are none.
   * For example `total('tinkex_http_requests_total', { status: '429' })`.
   */
  total(name: string, labels?: Labels): number;
}

/**
 * Counts and measures the SDK's events: counters, gauges, and distributions of latency and size with p50, p95 and p99 (within 1 %).
 * Memory is bounded whatever happens: distributions have a fixed size, and so has the number of series.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is no URL.
 */
export function attachMetrics(options: MetricsOptions = {}): MetricsAttachment {
  const registry = new Registry(options.maxSeries ?? 1_000);
  const handlers = { ...httpMetrics(registry), ...workMetrics(registry), ...sessionMetrics(registry), ...recoveryMetrics(registry) };
  const attachment = attach('attachMetrics', handlers, options);
  return {
    detach: attachment.detach,
    get errors() {
      return attachment.errors;
    },
    snapshot: () => registry.snapshot(),
    prometheus: () => registry.prometheus(),
    total: (name, labels) => registry.total(name, labels),
    [Symbol.dispose]: attachment.detach,
  };
}
