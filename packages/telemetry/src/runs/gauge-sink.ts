import type { MetricsSink } from './metrics-sink.js';

/** What {@link gaugeSink} uses of a `Meter` of `@opentelemetry/api`. */
export interface GaugeMeter {
  createGauge(name: string): { record(value: number, attributes?: Record<string, string | number>): void };
}

/** Options of {@link gaugeSink}. */
export interface GaugeSinkOptions {
  /** What the names begin with. Default `tinkex.run.`. */
  readonly prefix?: string | undefined;
  /** Attributes of every measurement, such as the name of the run. */
  readonly attributes?: Record<string, string | number> | undefined;
}

/** Records each metric on an OpenTelemetry gauge, named as the metric with dots for slashes and colons. Values that are not finite are left out. */
export function gaugeSink(meter: GaugeMeter, { prefix = 'tinkex.run.', attributes }: GaugeSinkOptions = {}): MetricsSink {
  const gauges = new Map<string, ReturnType<GaugeMeter['createGauge']>>();
  return {
    logMetrics(metrics) {
      for (const [name, value] of Object.entries(metrics)) {
        if (!Number.isFinite(value)) continue;
        let gauge = gauges.get(name);
        if (gauge === undefined) {
          gauge = meter.createGauge(prefix + name.replaceAll(/[/:]/g, '.'));
          gauges.set(name, gauge);
        }
        gauge.record(value, attributes);
      }
    },
  };
}
