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
export {
  ServiceReporter,
  type ServiceReporterOptions,
  type ServiceReporterSettings,
  type ServiceReporterStatus,
} from './service-reporter.js';
export type { GenericReport, ReportSeverity } from './telemetry-event.js';
export { isTelemetryEnabled, type TelemetrySwitchOptions } from './telemetry-switch.js';
