import { publish } from '@tinkex/http';
import { describe, expect, it } from 'vitest';
import { publishAll, publishSample, samples } from '../../test/sample-events.js';
import { attachMetrics } from './attach-metrics.js';

const start = 'tinkex:http:request:start';
const stop = 'tinkex:http:request:stop';

describe('attachMetrics', () => {
  it('keeps these metrics when every event happens', () => {
    using metrics = attachMetrics();
    publishAll();
    const names = new Set(
      [...metrics.snapshot().counters, ...metrics.snapshot().gauges, ...metrics.snapshot().histograms].map(({ name }) => name),
    );
    expect([...names].sort()).toEqual([
      'tinkex_checkpoint_download_received_bytes',
      'tinkex_checkpoint_duration_seconds',
      'tinkex_checkpoints_total',
      'tinkex_chunk_size_bytes',
      'tinkex_chunks_submitted_total',
      'tinkex_future_duration_seconds',
      'tinkex_future_polls_total',
      'tinkex_future_unobserved_failures_total',
      'tinkex_futures_settled_total',
      'tinkex_http_errors_total',
      'tinkex_http_request_duration_seconds',
      'tinkex_http_request_size_bytes',
      'tinkex_http_requests_in_flight',
      'tinkex_http_requests_total',
      'tinkex_http_response_size_bytes',
      'tinkex_http_retries_total',
      'tinkex_http_retry_delay_seconds',
      'tinkex_queue_state_changes_total',
      'tinkex_rate_limit_backoffs_total',
      'tinkex_rate_limit_wait_seconds',
      'tinkex_rate_limited',
      'tinkex_recovery_duration_seconds',
      'tinkex_recovery_events_total',
      'tinkex_sampling_call_duration_seconds',
      'tinkex_sampling_calls_total',
      'tinkex_sampling_prompt_tokens_total',
      'tinkex_sampling_sampled_tokens_total',
      'tinkex_session_heartbeats_total',
      'tinkex_sessions_active',
      'tinkex_sessions_total',
      'tinkex_training_datums_total',
      'tinkex_training_metric',
      'tinkex_training_operation_duration_seconds',
      'tinkex_training_operations_total',
      'tinkex_training_tokens_total',
    ]);
    expect(metrics.errors).toBe(0);
  });

  it('keeps base URLs, request types and statuses apart, and sums over them on request', () => {
    using metrics = attachMetrics();
    publishSample(stop);
    publishSample(stop, { status: 429 });
    publishSample(stop, { baseUrl: 'https://b.example', requestType: 'OptimStep' });
    const name = 'tinkex_http_requests_total';
    expect(metrics.snapshot().counters.filter((sample) => sample.name === name)).toHaveLength(3);
    expect(metrics.total(name)).toBe(3);
    expect(metrics.total(name, { status: '429' })).toBe(1);
    expect(metrics.total(name, { base_url: 'https://a.example/api' })).toBe(2);
    expect(metrics.total('tinkex_http_request_duration_seconds', { request_type: 'OptimStep' })).toBe(1);
    expect(metrics.total('no_such_metric')).toBe(0);
  });

  it('sorts values into cumulative buckets, and keeps exact count, sum, minimum and maximum', () => {
    using metrics = attachMetrics();
    for (let durationMs = 1; durationMs <= 1_000; durationMs += 1) publishSample(stop, { durationMs });
    publishSample(stop, { durationMs: 3_600_000 });
    const [latency] = metrics.snapshot().histograms.filter(({ name }) => name === 'tinkex_http_request_duration_seconds');
    expect(latency).toMatchObject({ count: 1_001, min: 0.001, max: 3_600 });
    expect(latency?.sum).toBeCloseTo(4_100.5, 6);
    const counts = Object.fromEntries(latency?.buckets.map(({ upTo, count }) => [upTo, count]) ?? []);
    expect(counts).toMatchObject({ 0.005: 5, 0.01: 10, 0.25: 250, 1: 1_000, 600: 1_000 });
  });

  it('survives absurd numbers', () => {
    using metrics = attachMetrics();
    for (const durationMs of [-5, 0, Number.NaN, Number.POSITIVE_INFINITY, 1e300]) publishSample(stop, { durationMs });
    const [latency] = metrics.snapshot().histograms.filter(({ name }) => name === 'tinkex_http_request_duration_seconds');
    expect(latency).toMatchObject({ count: 3, min: 0, max: 1e297 });
    expect(metrics.errors).toBe(0);
  });

  it('knows how many requests are in flight, and is not confused by those that started before it', () => {
    const early = samples[start]();
    const first = samples[start]();
    const second = samples[start]();
    using metrics = attachMetrics();
    publish(start, first);
    publish(start, second);
    publish(stop, early);
    expect(metrics.total('tinkex_http_requests_in_flight')).toBe(2);
    publish(stop, first);
    publish('tinkex:http:request:exception', second);
    expect(metrics.total('tinkex_http_requests_in_flight')).toBe(0);
  });

  it('knows open sessions and limited keys', () => {
    using metrics = attachMetrics();
    publishSample('tinkex:session:start', { sessionId: 's1' });
    publishSample('tinkex:session:start', { sessionId: 's2' });
    publishSample('tinkex:session:end', { sessionId: 's1' });
    publishSample('tinkex:session:end', { sessionId: 'unknown' });
    publishSample('tinkex:rate_limit:set', { limiterId: 'one' });
    publishSample('tinkex:rate_limit:set', { limiterId: 'two' });
    publishSample('tinkex:rate_limit:cleared', { limiterId: 'one' });
    expect(metrics.total('tinkex_sessions_active')).toBe(1);
    expect(metrics.total('tinkex_rate_limited', { limiter: 'one' })).toBe(0);
    expect(metrics.total('tinkex_rate_limited', { limiter: 'two' })).toBe(1);
  });

  it('counts what happens to broken runs, by kind', () => {
    using metrics = attachMetrics();
    publishSample('tinkex:recovery:broken');
    publishSample('tinkex:recovery:attempt');
    publishSample('tinkex:recovery:attempt_failed');
    publishSample('tinkex:recovery:attempt', { attempt: 1 });
    publishSample('tinkex:recovery:recovered', { durationMs: 6_000 });
    const total = (kind: string) => metrics.total('tinkex_recovery_events_total', { kind });
    expect(['broken', 'attempt', 'attempt_failed', 'recovered', 'given_up'].map(total)).toEqual([1, 2, 1, 1, 0]);
    expect(metrics.snapshot().histograms).toMatchObject([{ name: 'tinkex_recovery_duration_seconds', count: 1, sum: 6 }]);
  });

  it('shows the last training metrics', () => {
    using metrics = attachMetrics();
    publishSample('tinkex:training:operation', { metrics: { 'loss:mean': 3, 'grad:sum': 1 } });
    publishSample('tinkex:training:operation', { metrics: { 'loss:mean': 2 } });
    expect(metrics.total('tinkex_training_metric', { metric: 'loss:mean' })).toBe(2);
    expect(metrics.total('tinkex_training_tokens_total')).toBe(2_000);
  });

  it('puts series beyond the limit into one called other, and keeps totals right', () => {
    using metrics = attachMetrics({ maxSeries: 10 });
    for (let index = 0; index < 1_000; index += 1) publishSample('tinkex:future:poll', { requestType: `type-${index}` });
    const { counters, overflowed } = metrics.snapshot();
    expect(counters).toHaveLength(11);
    expect(overflowed).toBe(990);
    expect(metrics.total('tinkex_future_polls_total')).toBe(1_000);
    expect(metrics.total('tinkex_future_polls_total', { request_type: 'other' })).toBe(990);
  });

  it('listens to one client only when asked, and can be read after it is detached', () => {
    const metrics = attachMetrics({ clientId: 'client-b' });
    publishSample(stop);
    publishSample(stop, { clientId: 'client-b' });
    metrics.detach();
    publishSample(stop, { clientId: 'client-b' });
    expect(metrics.total('tinkex_http_requests_total')).toBe(1);
  });

  it('speaks the Prometheus text format', () => {
    using metrics = attachMetrics();
    publishSample(stop, { requestType: 'odd "type"\\\nwith lines', responseBytes: 1_000, durationMs: 250 });
    publishSample('tinkex:training:operation', {
      metrics: { 'loss:mean': Number.NaN, up: Number.POSITIVE_INFINITY, down: Number.NEGATIVE_INFINITY },
    });
    const text = metrics.prometheus();
    const labels = 'base_url="https://a.example/api",request_type="odd \\"type\\"\\\\\\nwith lines"';
    expect(text).toContain(
      [
        '# HELP tinkex_http_requests_total HTTP attempts that were answered.',
        '# TYPE tinkex_http_requests_total counter',
        `tinkex_http_requests_total{${labels},method="POST",status="200"} 1`,
        '',
      ].join('\n'),
    );
    expect(text).toContain(
      [
        '# TYPE tinkex_http_request_duration_seconds histogram',
        ...['0.005', '0.01', '0.025', '0.05', '0.1'].map((le) => `tinkex_http_request_duration_seconds_bucket{${labels},le="${le}"} 0`),
        ...['0.25', '0.5', '1', '2.5', '5', '10', '30', '60', '120', '300', '600', '+Inf'].map(
          (le) => `tinkex_http_request_duration_seconds_bucket{${labels},le="${le}"} 1`,
        ),
        `tinkex_http_request_duration_seconds_sum{${labels}} 0.25`,
        `tinkex_http_request_duration_seconds_count{${labels}} 1`,
        '',
      ].join('\n'),
    );
    expect(text).toMatch(/metric="loss:mean".*\} NaN\n/);
    expect(text).toMatch(/metric="up".*\} \+Inf\n/);
    expect(text).toMatch(/metric="down".*\} -Inf\n/);
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z_]+="([^"\\\n]|\\.)*",?)*\})? (NaN|[+-]Inf|[-+0-9.e]+))$/);
    }
  });
});
