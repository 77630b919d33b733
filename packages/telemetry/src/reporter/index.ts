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
} from './client-reports.js';
export type { SendBatch } from './delivery.js';
export type { GenericReport, ReportSeverity } from './report.js';
export {
  ServiceReporter,
  type ServiceReporterOptions,
  type ServiceReporterSettings,
  type ServiceReporterStatus,
} from './service-reporter.js';
export { sessionDuration } from './session-duration.js';
export { isTelemetryEnabled, type TelemetrySwitchOptions } from './telemetry-switch.js';
