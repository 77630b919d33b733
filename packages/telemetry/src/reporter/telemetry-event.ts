import type { TelemetryRequest } from '@tinkex/types/wire';
import { type PlainValue, redactText, redactValue } from '@tinkex/types/wire';
import type { Report } from './report.js';

/** An event as the service takes it. */
export type TelemetryEvent = TelemetryRequest['events'][number];

/** What every event is stamped with. */
export interface EventStamp {
  readonly eventId: string;
  readonly eventSessionIndex: number;
  /** UTC, ISO 8601 with `Z`. */
  readonly timestamp: string;
}

const maxMessageLength = 4_000;
const maxTracebackLength = 16_000;

/** Makes the event that is sent: stamped, redacted, bounded in size. */
export function telemetryEvent(report: Report, stamp: EventStamp): TelemetryEvent {
  switch (report.kind) {
    case 'SESSION_START':
      return { event: 'SESSION_START', severity: 'INFO', ...stamp };
    case 'SESSION_END':
      return { event: 'SESSION_END', severity: 'INFO', duration: report.duration, ...stamp };
    case 'UNHANDLED_EXCEPTION':
      return {
        event: 'UNHANDLED_EXCEPTION',
        severity: report.severity,
        errorType: redactText(report.errorType, 200),
        errorMessage: redactText(report.errorMessage, maxMessageLength),
        ...(report.traceback === undefined ? {} : { traceback: redactText(report.traceback, maxTracebackLength) }),
        ...stamp,
      };
    case 'GENERIC_EVENT':
      return {
        event: 'GENERIC_EVENT',
        severity: report.severity,
        eventName: redactText(report.name, 200),
        eventData: redactValue(report.data) as { [key: string]: PlainValue },
        ...stamp,
      };
  }
}
