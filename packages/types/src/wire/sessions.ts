import type { JsonObject } from '../json/json-value.js';
import { jsonObject, list, mapOf } from './collections.js';
import { queryObject, requestObject, responseObject } from './objects.js';
import { integer, nullable, oneOf, text } from './scalars.js';
import { optional } from './wire-type.js';

/** Starts a session. */
export interface CreateSessionRequest {
  readonly tags: readonly string[];
  /** Any JSON object. Default `{}`. */
  readonly userMetadata?: JsonObject | null | undefined;
  /** The version of the reference client that the caller behaves like. */
  readonly sdkVersion: string;
  readonly projectId?: string | undefined;
  /** For display and search; need not be unique. */
  readonly displayName?: string | undefined;
}

/** {@link CreateSessionRequest} on the wire. */
export const createSessionRequest = requestObject<CreateSessionRequest>(
  'CreateSessionRequest',
  {
    tags: list(text()),
    userMetadata: optional(nullable(jsonObject()), { fallback: () => ({}) }),
    sdkVersion: text(),
    projectId: optional(text()),
    displayName: optional(text()),
  },
  { tag: 'create_session' },
);

/** The session, and messages of the server for its user. */
export interface CreateSessionResponse {
  readonly sessionId: string;
  readonly infoMessage?: string | undefined;
  readonly warningMessage?: string | undefined;
  readonly errorMessage?: string | undefined;
}

/** {@link CreateSessionResponse} on the wire. */
export const createSessionResponse = responseObject<CreateSessionResponse>(
  'CreateSessionResponse',
  {
    sessionId: text(),
    infoMessage: optional(text()),
    warningMessage: optional(text()),
    errorMessage: optional(text()),
  },
  { tag: 'create_session' },
);

/** Keeps a session alive. */
export interface SessionHeartbeatRequest {
  readonly sessionId: string;
}

/** {@link SessionHeartbeatRequest} on the wire. */
export const sessionHeartbeatRequest = requestObject<SessionHeartbeatRequest>(
  'SessionHeartbeatRequest',
  { sessionId: text() },
  { tag: 'session_heartbeat' },
);

/** The heartbeat was received. */
export type SessionHeartbeatResponse = Record<never, never>;

/** {@link SessionHeartbeatResponse} on the wire. */
export const sessionHeartbeatResponse = responseObject<SessionHeartbeatResponse>(
  'SessionHeartbeatResponse',
  {},
  { tag: 'session_heartbeat' },
);

/** What a caller may see: its own things, or all it has access to. */
export type AccessScope = 'owned' | 'accessible';

/** Default `owned`; always sent. */
export const accessScope = () => optional(oneOf('owned', 'accessible'), { fallback: () => 'owned' as const });

/** The query of the list of sessions. */
export interface ListSessionsQuery {
  /** Default 20. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
  /** Default `owned`. */
  readonly accessScope?: AccessScope | undefined;
}

/** {@link ListSessionsQuery} on the wire. */
export const listSessionsQuery = queryObject<ListSessionsQuery>('ListSessionsQuery', {
  limit: optional(integer({ min: 0 }), { fallback: () => 20 }),
  offset: optional(integer({ min: 0 }), { fallback: () => 0 }),
  accessScope: accessScope(),
});

/** The ids of sessions. */
export interface ListSessionsResponse {
  readonly sessions: readonly string[];
}

/** {@link ListSessionsResponse} on the wire. */
export const listSessionsResponse = responseObject<ListSessionsResponse>('ListSessionsResponse', {
  sessions: list(text()),
});

/** The query of one session. */
export interface GetSessionQuery {
  /** Default `owned`. */
  readonly accessScope?: AccessScope | undefined;
}

/** {@link GetSessionQuery} on the wire. */
export const getSessionQuery = queryObject<GetSessionQuery>('GetSessionQuery', { accessScope: accessScope() });

/** What belongs to a session. */
export interface GetSessionResponse {
  readonly trainingRunIds: readonly string[];
  readonly samplerIds: readonly string[];
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
  readonly displayName?: string | undefined;
}

/** {@link GetSessionResponse} on the wire. */
export const getSessionResponse = responseObject<GetSessionResponse>('GetSessionResponse', {
  trainingRunIds: list(text()),
  samplerIds: list(text()),
  userMetadata: optional(mapOf(text())),
  displayName: optional(text()),
});

/** Moves a session, with its runs and samplers, to a project. */
export interface AssignSessionProjectRequest {
  readonly projectId: string;
}

/** {@link AssignSessionProjectRequest} on the wire. */
export const assignSessionProjectRequest = requestObject<AssignSessionProjectRequest>('AssignSessionProjectRequest', {
  projectId: text({ isNonEmpty: true }),
});

/** The progress of the export of a session's trace. */
export interface TraceExportResponse {
  readonly status: 'pending' | 'ready' | 'failed';
  /** Signed: it gives access to anyone who has it. Set when ready. */
  readonly url?: string | undefined;
  /** Set when failed. */
  readonly error?: string | undefined;
}

/** {@link TraceExportResponse} on the wire. */
export const traceExportResponse = responseObject<TraceExportResponse>('TraceExportResponse', {
  status: oneOf('pending', 'ready', 'failed'),
  url: optional(text()),
  error: optional(text()),
});
