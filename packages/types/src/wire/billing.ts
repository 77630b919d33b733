import { expected } from '../errors/issue-text.js';
import type { JsonObject } from '../json/json-value.js';
import { jsonObject, list, mapOf } from './collections.js';
import { date, dateOrText } from './dates.js';
import { queryObject, responseObject, responseType } from './objects.js';
import { flag, integer, number, oneOf, text } from './scalars.js';
import { textThat } from './schema.js';
import { type OtherKind, openUnion } from './unions.js';
import { filled, optional, type WireType } from './wire-type.js';

/** Tokens that were trained on. */
export interface TrainingUsage {
  readonly type: 'training';
  readonly tokenCount: number;
}

/** Tokens of prompts. */
export interface SamplingPrefillUsage {
  readonly type: 'sampling_prefill';
  readonly cached: boolean;
  readonly tokenCount: number;
}

/** Tokens that were sampled. */
export interface SamplingSampleUsage {
  readonly type: 'sampling_sample';
  readonly tokenCount: number;
}

/** Checkpoints that were saved. */
export interface CheckpointUsage {
  readonly type: 'checkpoint';
  readonly count: number;
}

/** Checkpoints that were kept. */
export interface StorageUsage {
  readonly type: 'storage';
  readonly gigabyteHours: number;
}

/** What was used. A kind of usage that this version does not know has the type `other`. */
export type BillingEventInfo = TrainingUsage | SamplingPrefillUsage | SamplingSampleUsage | CheckpointUsage | StorageUsage | OtherKind;

/** An object without a type is of the first kind that fits, as the reference reads it. */
function guessKind(wire: JsonObject): string | undefined {
  if ('cached' in wire && 'token_count' in wire) return 'sampling_prefill';
  if ('token_count' in wire) return 'training';
  if ('gigabyte_hours' in wire) return 'storage';
  return 'count' in wire ? 'checkpoint' : undefined;
}

const eventInfo = openUnion<Exclude<BillingEventInfo, OtherKind>, 'type'>(
  'type',
  {
    training: responseType<Omit<TrainingUsage, 'type'>>({ tokenCount: integer() }),
    sampling_prefill: responseType<Omit<SamplingPrefillUsage, 'type'>>({ cached: flag(), tokenCount: integer() }),
    sampling_sample: responseType<Omit<SamplingSampleUsage, 'type'>>({ tokenCount: integer() }),
    checkpoint: responseType<Omit<CheckpointUsage, 'type'>>({ count: integer() }),
    storage: responseType<Omit<StorageUsage, 'type'>>({ gigabyteHours: number() }),
  },
  { guess: guessKind },
);

/** What one session used in one hour. */
export interface BillingUsageEvent {
  readonly bucketStart: Date;
  readonly bucketEnd: Date;
  readonly baseModel?: string | undefined;
  readonly userId?: string | undefined;
  readonly userName?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly projectId?: string | undefined;
  /** Gross, not the amount of an invoice. Likewise the rates. */
  readonly estimatedCostUsd?: number | undefined;
  readonly effectiveRateUsdPerMillionTokens?: number | undefined;
  readonly effectiveRateUsdPerGigabyteMonth?: number | undefined;
  readonly eventInfo: BillingEventInfo;
}

/** What is known about a session that was billed. */
export interface BillingUsageSession {
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
}

/** What was used, by the hour. */
export interface BillingUsageResponse {
  readonly data: readonly BillingUsageEvent[];
  /** By session id. */
  readonly sessions: Readonly<Record<string, BillingUsageSession>>;
  /** Before it, rates come from invoices; after it, from the published list. */
  readonly costDataThrough?: Date | undefined;
}

/** {@link BillingUsageResponse} on the wire. */
export const billingUsageResponse = responseObject<BillingUsageResponse>('BillingUsageResponse', {
  data: list(
    responseType<BillingUsageEvent>({
      bucketStart: date(),
      bucketEnd: date(),
      baseModel: optional(text()),
      userId: optional(text()),
      userName: optional(text()),
      sessionId: optional(text()),
      projectId: optional(text()),
      estimatedCostUsd: optional(number()),
      effectiveRateUsdPerMillionTokens: optional(number()),
      effectiveRateUsdPerGigabyteMonth: optional(number()),
      eventInfo,
    }),
  ),
  sessions: filled(mapOf(responseType<BillingUsageSession>({ userMetadata: optional(mapOf(text())) })), () => ({})),
  costDataThrough: optional(date()),
});

/** The query of the billing usage: full hours, at most 14 days apart. */
export interface BillingUsageQuery {
  readonly startingOn: Date | string;
  readonly endingBefore: Date | string;
}

/** {@link BillingUsageQuery} on the wire. */
export const billingUsageQuery = queryObject<BillingUsageQuery>('BillingUsageQuery', {
  startingOn: dateOrText(),
  endingBefore: dateOrText(),
});

/** Something that was done. */
export interface AuditLogEntry {
  readonly timestamp: Date;
  readonly event: string;
  /** Who did what to which object; the fields differ by event. */
  readonly eventDetails: JsonObject;
  /** Older servers. Newer ones use `eventDetails`, also for the next two. */
  readonly modelId?: string | undefined;
  readonly tinkerPath?: string | undefined;
  readonly purpose?: string | undefined;
}

/** What was done in a day. */
export interface AuditLogResponse {
  readonly entries: readonly AuditLogEntry[];
}

/** {@link AuditLogResponse} on the wire. */
export const auditLogResponse = responseObject<AuditLogResponse>('AuditLogResponse', {
  entries: list(
    responseType<AuditLogEntry>({
      timestamp: date(),
      event: text(),
      eventDetails: filled(jsonObject(), () => ({})),
      modelId: optional(text()),
      tinkerPath: optional(text()),
      purpose: optional(text()),
    }),
  ),
});

/** Which events of the audit log to list. */
export type AuditEventType = 'all' | 'checkpoints' | 'projects' | 'teams' | 'organizations';

/** The query of the audit log. */
export interface AuditLogQuery {
  /** Default `all`. */
  readonly eventType?: AuditEventType | undefined;
  /** `YYYY-MM-DD`, in UTC. Unset: today. */
  readonly day?: string | undefined;
}

const day: WireType<string> = {
  ...text(),
  schema: () => textThat((value) => /^\d{4}-\d{2}-\d{2}$/.test(value), expected('a day such as 2026-01-15')),
};

/** {@link AuditLogQuery} on the wire. */
export const auditLogQuery = queryObject<AuditLogQuery>('AuditLogQuery', {
  eventType: optional(oneOf('all', 'checkpoints', 'projects', 'teams', 'organizations'), { fallback: () => 'all' as const }),
  day: optional(day),
});
