import type { ExampleView, ProtocolReading, Timeline } from './activity-views.js';
import type { Features, RunDetail, RunSummary } from './run-views.js';

/** Everything that a report without a server shows. Points are lists of steps and values. */
export interface ReportData {
  readonly atMs: number;
  readonly features: Features;
  readonly runs: readonly ReportRun[];
}

/** One run of a report. */
export interface ReportRun {
  readonly summary: RunSummary;
  readonly detail: RunDetail;
  readonly series: Readonly<Record<string, readonly [readonly number[], readonly number[]]>>;
  readonly timeline: Timeline;
  readonly protocol: ProtocolReading | undefined;
  readonly examples: readonly ExampleView[];
}
