import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { publish } from '@tinkex/http';
import type { HttpRequestEvent } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { attachLogger, attachMetrics, attachProgress } from '../src/index.js';
import { attachOpenTelemetry } from '../src/otel/index.js';
import { ServiceReporter } from '../src/reporter/index.js';
import { samples } from './sample-events.js';

const total = 1_000_002;
const warmUp = 60_000;
const maxGrowthBytes = 64 * 1_024 * 1_024;
const forever = (): Promise<never> => new Promise(() => undefined);

function collectGarbage(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
}

const attempt = samples['tinkex:http:request:start']() as { -readonly [Field in keyof HttpRequestEvent]: HttpRequestEvent[Field] };
const session = { ...samples['tinkex:session:start']() };
const limit = { ...samples['tinkex:rate_limit:set']() };
const operation = { ...samples['tinkex:training:operation']({ requestType: 'OptimStep' }) };
const settled = { ...samples['tinkex:future:settled']({ requestType: 'OptimStep' }) };

/**
 * Publishes `count` events of six kinds, with names that never repeat: new clients, servers, sessions, limiters, operations, metrics. The
 * objects are changed in place, because making them would cost more than everything that is tested here.
 */
function flood(count: number): void {
  for (let index = 0; index < count; index += 6) {
    const source = { clientId: `c${index}`, baseUrl: `https://h${index % 2_500}.example` };
    Object.assign(attempt, source, { requestType: `t${index}`, durationMs: index, status: 200 + (index % 300), responseBytes: index });
    publish('tinkex:http:request:start', attempt);
    publish('tinkex:http:request:stop', attempt);
    publish('tinkex:session:start', Object.assign(session, source, { sessionId: `s${index}` }));
    publish('tinkex:rate_limit:set', Object.assign(limit, source, { limiterId: `l${index}` }));
    publish('tinkex:future:settled', Object.assign(settled, source));
    publish('tinkex:training:operation', Object.assign(operation, source, { metrics: { [`m${index % 5_000}`]: 1 } }));
  }
}

describe('a million events', () => {
  const stuckExporter: SpanExporter = { export: () => undefined, shutdown: () => Promise.resolve() };

  it('cost bounded memory, with a sink, a stream and a service that never answer', { timeout: 120_000 }, () => {
    const sink = { debug: forever, info: forever, warn: forever, error: forever };
    using logger = attachLogger({ level: 'debug', sink });
    using metrics = attachMetrics();
    using progress = attachProgress({ stream: { write: () => false, writableNeedDrain: true } });
    const reporter = new ServiceReporter({ send: forever, sessionId: 's', sdkVersion: '0' });

    flood(warmUp);
    const before = collectGarbage();
    flood(total);
    for (let index = 0; index < 50_000; index += 1) reporter.event({ name: `n${index}`, severity: 'INFO', data: { index } });
    const growth = collectGarbage() - before;

    expect(growth).toBeLessThan(maxGrowthBytes);
    expect(logger.lines).toBe(1_000);
    expect(logger.dropped).toBe(total + warmUp - 1_000);
    const { counters, gauges, histograms } = metrics.snapshot();
    expect(counters.length + gauges.length + histograms.length).toBeLessThan(1_100);
    expect(metrics.total('tinkex_http_requests_total')).toBe((total + warmUp) / 6);
    expect(progress.read().step).toBe((total + warmUp) / 6);
    expect(reporter.status).toMatchObject({ queued: 10_000, dropped: 40_000 });
    expect([logger.errors, metrics.errors, progress.errors]).toEqual([0, 0, 0]);
  });

  it('keep nothing in the OpenTelemetry bridge, even in one turn of the event loop', { timeout: 120_000 }, () => {
    const processor = new BatchSpanProcessor(stuckExporter, { maxQueueSize: 100, maxExportBatchSize: 100 });
    using otel = attachOpenTelemetry({ tracerProvider: new BasicTracerProvider({ spanProcessors: [processor] }), hasMetrics: false });

    flood(warmUp);
    const before = collectGarbage();
    // Making spans is OpenTelemetry's own work, ten times as much as ours: a fifth of the flood shows a leak as well.
    flood(200_004);
    const growth = collectGarbage() - before;

    expect(growth).toBeLessThan(maxGrowthBytes / 4);
    expect(otel.errors).toBe(0);
  });
});
