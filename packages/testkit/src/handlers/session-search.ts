import { elapsedMs } from '@tinkex/http/clock';
import type { SessionSearchRequest, SessionStatusFilter } from '@tinkex/types';
import { jsonReply, refuse } from '../requests/message.js';
import type { RouteHandler } from '../requests/request-context.js';
import type { SessionRecord } from '../state/records.js';
import { liveCheckpoints, type ServerContext } from '../state/server-context.js';
import type { Tenant } from '../state/tenant.js';
import { textValues } from './text-values.js';

/** The project of sessions that were created without one. */
const DEFAULT_PROJECT = 'default';

export const searchSessions: RouteHandler<'searchSessions'> = ({ server, tenant, request }) => {
  const { projects } = server.settings;
  const hidden = request.projectIds?.find((projectId) => projects !== undefined && !projects.has(projectId));
  if (hidden !== undefined) refuse(403, `No access to the project ${hidden}`);
  const { owner, limit = 50 } = request;
  const isOwnerWanted = owner?.type !== 'user' || owner.ownerUrns.includes(tenant.userUrn);
  const found = isOwnerWanted ? [...tenant.sessions.values()].filter((session) => matches(server, session, request)) : [];
  const rest = found.sort(newestFirst).filter((session) => isAfter(session, request.cursor));
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  return jsonReply(200, {
    sessions: page.map((session) => summary(server, tenant, session)),
    next_cursor: last === undefined ? null : { last_created_at: createdAt(last), last_session_id: last.sessionId },
  });
};

function matches(server: ServerContext, session: SessionRecord, request: SessionSearchRequest): boolean {
  const { sessionId, displayName, projectIds, userMetadata = {}, statuses } = request;
  const hasName = displayName !== undefined && containsWords(session.displayName ?? '', displayName);
  const hasId = session.sessionId === sessionId;
  if ((sessionId !== undefined || displayName !== undefined) && !hasName && !hasId) return false;
  if (projectIds !== undefined && !projectIds.includes(session.projectId ?? DEFAULT_PROJECT)) return false;
  const metadata = textValues(session.userMetadata);
  if (!Object.entries(userMetadata).every(([name, value]) => metadata[name] === value)) return false;
  return statuses === undefined || statuses.some((status) => hasStatus(server, session, status));
}

function containsWords(name: string, words: string): boolean {
  const text = name.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function hasStatus(server: ServerContext, session: SessionRecord, status: SessionStatusFilter): boolean {
  const { finished } = session;
  if (status.type === 'active') return finished === undefined && isAlive(server, session);
  if (status.type !== 'client_finished' || finished === undefined) return false;
  return status.reasons === undefined || status.reasons.includes(finished.reason);
}

function isAlive({ clock, settings }: ServerContext, { lastHeartbeat }: SessionRecord): boolean {
  return elapsedMs(clock, lastHeartbeat) <= settings.sessionTtlMs;
}

function newestFirst(left: SessionRecord, right: SessionRecord): number {
  return right.createdAtMs - left.createdAtMs || (left.sessionId < right.sessionId ? 1 : -1);
}

function isAfter(session: SessionRecord, cursor: SessionSearchRequest['cursor']): boolean {
  if (cursor === undefined) return true;
  const { lastCreatedAt, lastSessionId } = cursor;
  const differenceMs = Date.parse(lastCreatedAt) - session.createdAtMs;
  return differenceMs > 0 || (differenceMs === 0 && session.sessionId < lastSessionId);
}

function summary(server: ServerContext, tenant: Tenant, session: SessionRecord): unknown {
  const { sessionId, projectId, displayName, userMetadata, finished } = session;
  const own = liveCheckpoints(server, tenant).filter(({ trainingRunId }) => tenant.models.get(trainingRunId)?.sessionId === sessionId);
  const ended = finished && { type: 'client_finished', reason: { type: finished.reason }, detail: finished.detail ?? null };
  return {
    session_id: sessionId,
    created_at: createdAt(session),
    owner: tenant.userUrn,
    project_id: projectId ?? DEFAULT_PROJECT,
    checkpoints_count: own.length,
    checkpoint_storage_bytes: own.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    status: ended ?? (isAlive(server, session) ? { type: 'active' } : null),
    display_name: displayName ?? null,
    user_metadata: textValues(userMetadata),
  };
}

/** Always with a zone: the protocol requires it of cursors. */
function createdAt({ createdAtMs }: SessionRecord): string {
  return new Date(createdAtMs).toISOString();
}
