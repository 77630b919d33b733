import type { ExampleView, ProtocolReading, RolloutsView, Timeline } from '../api/activity-views.js';
import type { RunDetail, RunSummary } from '../api/run-views.js';
import type { MetricTable } from '../metrics/metric-table.js';

/** A run that the page shows, wherever it comes from. */
export interface InspectedRun {
  readonly id: string;
  readonly metrics: MetricTable;
  summary(nowMs: number): RunSummary;
  detail(): RunDetail;
  /** The spans after the first `after`. */
  timeline(after: number): Timeline;
  /** Undefined for a run that was not recorded. */
  protocol(): ProtocolReading | undefined;
  examples(): readonly ExampleView[];
  /** Undefined if there is no such iteration. Texts only with `hasContent`. */
  rollouts(iteration: number, split: string, hasContent: boolean): Promise<RolloutsView | undefined>;
}

/** Where runs come from. */
export interface RunSource {
  /** Reads what is new. Called about once a second while a page is open; never rejects. */
  refresh(): Promise<void>;
  runs(): readonly InspectedRun[];
}
