import { JsonlAppender } from './jsonl-appender.js';
import type { MetricsSink } from './metrics-sink.js';

/** Appends the metrics of each step to a JSONL file, as `metrics.jsonl` of a run folder has them. */
export function jsonlSink(path: string): MetricsSink {
  let appender: Promise<JsonlAppender> | undefined;
  return {
    async logMetrics(metrics, step) {
      appender ??= JsonlAppender.open(path);
      await (await appender).append({ step, ...metrics });
    },
    async close() {
      await (await appender)?.close();
    },
  };
}
