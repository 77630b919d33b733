import type { JsonObject } from '../json/json-value.js';
import { jsonObject, list } from './collections.js';
import { requestObject, requestType, responseObject } from './objects.js';
import { integer, oneOf, text } from './scalars.js';
import { union } from './unions.js';
import { type FieldsOf, optional } from './wire-type.js';

/** How severe an event is. */
export type TelemetrySeverity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

/** What all telemetry events have. */
export interface TelemetryEventBase {
  /** A UUID. */
  readonly eventId: string;
  /** Counts the events of a session, from 0. */
  readonly eventSessionIndex: number;
  readonly severity: TelemetrySeverity;
  /** ISO 8601 in UTC; text, because microseconds do not fit a `Date`. */
  readonly timestamp: string;
}

/** A session began. */
export interface SessionStartEvent extends TelemetryEventBase {
  readonly event: 'SESSION_START';
}

/** A session ended. */
export interface SessionEndEvent extends TelemetryEventBase {
  readonly event: 'SESSION_END';
  /** Such as `0:05:23.123456` or `1 day, 2:03:04`. */
  readonly duration: string;
}

/** An error left the SDK that is not the caller's fault. */
export interface UnhandledExceptionEvent extends TelemetryEventBase {
  readonly event: 'UNHANDLED_EXCEPTION';
  readonly errorType: string;
  readonly errorMessage: string;
  readonly traceback?: string | undefined;
}

/** Any other event. */
export interface GenericEvent extends TelemetryEventBase {
  readonly event: 'GENERIC_EVENT';
  readonly eventName: string;
  /** Default `{}`. Keys are sent as they are written. */
  readonly eventData?: JsonObject | undefined;
}

/** What the SDK reports to the server about itself. */
export type TelemetryEvent = SessionStartEvent | SessionEndEvent | UnhandledExceptionEvent | GenericEvent;

const base: FieldsOf<TelemetryEventBase> = {
  eventId: text(),
  eventSessionIndex: integer({ min: 0 }),
  severity: oneOf('DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'),
  timestamp: text(),
};

const telemetryEventType = union<TelemetryEvent, 'event'>('event', {
  SESSION_START: requestType<Omit<SessionStartEvent, 'event'>>(base),
  SESSION_END: requestType<Omit<SessionEndEvent, 'event'>>({ ...base, duration: text() }),
  UNHANDLED_EXCEPTION: requestType<Omit<UnhandledExceptionEvent, 'event'>>({
    ...base,
    errorType: text(),
    errorMessage: text(),
    traceback: optional(text()),
  }),
  GENERIC_EVENT: requestType<Omit<GenericEvent, 'event'>>({
    ...base,
    eventName: text(),
    eventData: optional(jsonObject(), { fallback: () => ({}) }),
  }),
});

/** Events of the SDK itself. */
export interface TelemetryRequest {
  /** 1 to 100. */
  readonly events: readonly TelemetryEvent[];
  /** Such as `Linux`. */
  readonly platform: string;
  readonly sdkVersion: string;
  readonly sessionId: string;
  readonly processUuid: string;
}

/** {@link TelemetryRequest} on the wire. */
export const telemetryRequest = requestObject<TelemetryRequest>(
  'TelemetryRequest',
  {
    events: list(telemetryEventType, { min: 1 }),
    platform: text(),
    sdkVersion: text(),
    sessionId: text(),
    processUuid: text(),
  },
  { check: ({ events }) => (events.length > 100 ? { field: 'events', message: 'must not be more than 100' } : undefined) },
);

/** The events were accepted. */
export interface TelemetryResponse {
  readonly status: 'accepted';
}

/** {@link TelemetryResponse} on the wire. */
export const telemetryResponse = responseObject<TelemetryResponse>('TelemetryResponse', {
  status: oneOf('accepted'),
});
