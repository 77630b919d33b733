export type { AttachOptions, Subscribe } from './attach/attach.js';
export type { Attachment } from './attach/attachment.js';
export type { SourceFilter } from './attach/source-filter.js';
export { eventFields, eventNames } from './events/event-fields.js';
export { type EventFieldValues, pickFields } from './events/pick-fields.js';
export { attachLogger, type LoggerAttachment, type LoggerOptions } from './logger/attach-logger.js';
export type { LineLevel, LogLevel } from './logger/log-level.js';
export { type FieldsFirstLogger, type FieldsFirstMethod, type LogMethod, type LogSink, pinoSink } from './logger/log-sink.js';
export { attachMetrics, type MetricsAttachment, type MetricsOptions } from './metrics/attach-metrics.js';
export type { Labels } from './metrics/labels.js';
export type { DistributionSample, MetricsSnapshot, NumberSample } from './metrics/registry.js';
export type { DistributionSummary } from './metrics/series.js';
export { attachProgress, type ProgressAttachment, type ProgressOptions } from './progress/attach-progress.js';
export type { ProgressStream } from './progress/progress-output.js';
export type { ProgressReading } from './progress/progress-state.js';
export {
  type ClientReport,
  outerRetryReport,
  type PollFailure,
  type PollPosition,
  pollConnectionReport,
  pollFailedReport,
  pollStatusReport,
  pollTimeoutReport,
  pollUndecodableReport,
  type RetryFailure,
  samplingRetryReport,
} from './reporter/client-reports.js';
export type { SendBatch } from './reporter/delivery.js';
export type { GenericReport, ReportSeverity } from './reporter/report.js';
export {
  ServiceReporter,
  type ServiceReporterOptions,
  type ServiceReporterSettings,
  type ServiceReporterStatus,
} from './reporter/service-reporter.js';
export { sessionDuration } from './reporter/session-duration.js';
export { isTelemetryEnabled, type TelemetrySwitchOptions } from './reporter/telemetry-switch.js';
