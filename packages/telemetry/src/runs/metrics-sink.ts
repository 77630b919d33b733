import type { JsonRecord } from './run-json.js';

/** Named numbers of one step. */
export type Metrics = Readonly<Record<string, number>>;

/** Where the metrics of a run are written besides its folder. A sink that throws ends the run; calls are awaited one after the other. */
export interface MetricsSink {
  /** Called when a run starts or resumes, with what `config.json` holds. */
  logConfig?(config: JsonRecord): void | Promise<void>;
  /** Called for each record of metrics, in order. */
  logMetrics(metrics: Metrics, step: number): void | Promise<void>;
  /** Called when the run ends, also when it fails. */
  close?(): void | Promise<void>;
}
