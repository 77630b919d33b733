import { type PlainValue, redactText, redactValue, type TelemetryRequest } from '@tinkex/types/wire';

/** The severity of an event, in the service's terms. */
export type ReportSeverity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

/** What the client reports to the service, before it gets an ID, an index and a time. */
export type Report =
  | { readonly kind: 'SESSION_START' }
  | { readonly kind: 'SESSION_END'; readonly durationMs: number }
  | {
      readonly kind: 'UNHANDLED_EXCEPTION';
      readonly severity: ReportSeverity;
      readonly errorType: string;
      readonly errorMessage: string;
      readonly traceback?: string | undefined;
    }
  | GenericReport;

/** Anything with a name and data. The keys of the data are sent as they are. */
export interface GenericReport {
  readonly kind: 'GENERIC_EVENT';
  readonly name: string;
  readonly severity: ReportSeverity;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event as the service accepts it. */
export type TelemetryEvent = TelemetryRequest['events'][number];

/** The part that all events have. */
export interface EventStamp {
  readonly eventId: string;
  readonly eventSessionIndex: number;
  /** UTC, ISO 8601 with `Z`. */
  readonly timestamp: string;
}

const MAX_NAME_LENGTH = 200;
const MAX_TRACEBACK_LENGTH = 16_000;

/** Creates the event to send: stamped, redacted, bounded in size. */
export function telemetryEvent(report: Report, stamp: EventStamp): TelemetryEvent {
  switch (report.kind) {
    case 'SESSION_START':
      return { event: 'SESSION_START', severity: 'INFO', ...stamp };
    case 'SESSION_END':
      return { event: 'SESSION_END', severity: 'INFO', duration: sessionDuration(report.durationMs), ...stamp };
    case 'UNHANDLED_EXCEPTION':
      return {
        event: 'UNHANDLED_EXCEPTION',
        severity: report.severity,
        errorType: redactText(report.errorType, MAX_NAME_LENGTH),
        errorMessage: redactText(report.errorMessage),
        traceback: report.traceback === undefined ? undefined : redactText(report.traceback, MAX_TRACEBACK_LENGTH),
        ...stamp,
      };
    case 'GENERIC_EVENT':
      return {
        event: 'GENERIC_EVENT',
        severity: report.severity,
        eventName: redactText(report.name, MAX_NAME_LENGTH),
        eventData: redactValue(report.data) as { [key: string]: PlainValue },
        ...stamp,
      };
  }
}

/**
 * A duration as the service expects it in `SESSION_END`: the text of a Python time difference, such as `0:05:23.123456` or
 * `1 day, 2:03:04`. Not ISO 8601, although the API's type says so.
 */
export function sessionDuration(durationMs: number): string {
  const microseconds = Math.max(0, Math.round(durationMs * 1_000));
  const fraction = microseconds % 1_000_000;
  const seconds = Math.floor(microseconds / 1_000_000);
  const days = Math.floor(seconds / 86_400);
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const dayText = days === 0 ? '' : `${days} day${days === 1 ? '' : 's'}, `;
  const time = `${Math.floor((seconds % 86_400) / 3_600)}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`;
  return `${dayText}${time}${fraction === 0 ? '' : `.${String(fraction).padStart(6, '0')}`}`;
}
