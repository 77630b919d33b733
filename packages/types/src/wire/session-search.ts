import { list, mapOf } from './collections.js';
import { date, zonedDateText } from './dates.js';
import { requestObject, requestType, responseObject, responseType } from './objects.js';
import { integer, oneOf, text } from './scalars.js';
import { type SessionFinishReason, type SessionStatus, sessionStatus } from './session-status.js';
import { union } from './unions.js';
import { optional } from './wire-type.js';

/** Whose sessions to search: yours, all that you may see, or those of up to ten users. */
export type SessionOwnerFilter =
  | { readonly type: 'own' }
  | { readonly type: 'accessible' }
  | { readonly type: 'user'; readonly ownerUrns: readonly string[] };

/** A status to search for. `reasons` narrows `client_finished`; unset means any reason. */
export type SessionStatusFilter =
  | { readonly type: 'active' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'failed' }
  | { readonly type: 'client_finished'; readonly reasons?: readonly SessionFinishReason[] | undefined };

/** Where the next page starts. */
export interface SessionSearchCursor {
  /** As the server wrote it, with a zone: a `Date` would round it to milliseconds. */
  readonly lastCreatedAt: string;
  readonly lastSessionId: string;
}

/** Which sessions to find. All conditions must hold, except that either of `sessionId` and `displayName` is enough. */
export interface SessionSearchRequest {
  readonly sessionId?: string | undefined;
  readonly projectIds?: readonly string[] | undefined;
  /** Entries that the metadata of a session must have. Default `{}`. */
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
  /** Not empty. */
  readonly displayName?: string | undefined;
  /** Default `{ type: 'own' }`. */
  readonly owner?: SessionOwnerFilter | undefined;
  /** Not empty. Default: any status. */
  readonly statuses?: readonly SessionStatusFilter[] | undefined;
  /** Sessions per page, 1 to 200. Default 50. */
  readonly limit?: number | undefined;
  /** Continues after a page. */
  readonly cursor?: SessionSearchCursor | undefined;
}

const noFields = requestType<object>({});

const ownerFilter = union<SessionOwnerFilter, 'type'>('type', {
  own: noFields,
  accessible: noFields,
  user: requestType<{ readonly ownerUrns: readonly string[] }>({ ownerUrns: list(text(), { min: 1, max: 10 }) }),
});

const statusFilter = union<SessionStatusFilter, 'type'>('type', {
  active: noFields,
  cancelled: noFields,
  failed: noFields,
  client_finished: requestType<{ readonly reasons?: readonly SessionFinishReason[] | undefined }>({
    reasons: optional(list(oneOf('success', 'errored', 'interrupted'), { min: 1 })),
  }),
});

/** {@link SessionSearchRequest} on the wire. */
export const sessionSearchRequest = requestObject<SessionSearchRequest>('SessionSearchRequest', {
  sessionId: optional(text()),
  projectIds: optional(list(text())),
  userMetadata: optional(mapOf(text()), { fallback: () => ({}) }),
  displayName: optional(text({ isNonEmpty: true })),
  owner: optional(ownerFilter, { fallback: () => ({ type: 'own' }) as const }),
  statuses: optional(list(statusFilter, { min: 1 })),
  limit: optional(integer({ min: 1, max: 200 }), { fallback: () => 50 }),
  cursor: optional(requestType<SessionSearchCursor>({ lastCreatedAt: zonedDateText(), lastSessionId: text() })),
});

/** A session that a search found. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly createdAt: Date;
  /** The owner's URN. */
  readonly owner: string;
  readonly projectId: string;
  readonly checkpointsCount: number;
  /** Unset: neither finished nor known to run. */
  readonly status?: SessionStatus | undefined;
  readonly displayName?: string | undefined;
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
  readonly checkpointStorageBytes?: number | undefined;
}

/** A page of found sessions, newest first. */
export interface SessionSearchResponse {
  readonly sessions: readonly SessionSummary[];
  /** Unset on the last page. */
  readonly nextCursor?: SessionSearchCursor | undefined;
}

/** {@link SessionSearchResponse} on the wire. */
export const sessionSearchResponse = responseObject<SessionSearchResponse>('SessionSearchResponse', {
  sessions: list(
    responseType<SessionSummary>({
      sessionId: text(),
      createdAt: date(),
      owner: text(),
      projectId: text(),
      checkpointsCount: integer(),
      status: optional(sessionStatus),
      displayName: optional(text()),
      userMetadata: optional(mapOf(text())),
      checkpointStorageBytes: optional(integer()),
    }),
  ),
  nextCursor: optional(responseType<SessionSearchCursor>({ lastCreatedAt: zonedDateText(), lastSessionId: text() })),
});
