import { jsonReply, refuse } from '../requests/message.js';
import type { RouteHandler } from '../requests/request-context.js';
import type { UsageRecord } from '../state/records.js';
import { dateText, wallClockMs } from '../state/server-context.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const auditLog: RouteHandler<'auditLog'> = ({ server, tenant, query }) => {
  const dayMs = query.day === undefined ? wallClockMs(server) : new Date(query.day).getTime();
  if (Number.isNaN(dayMs)) refuse(400, 'day must be an ISO date');
  const startMs = dayMs - (dayMs % DAY_MS);
  const entries = tenant.audit.filter(({ atMs }) => atMs >= startMs && atMs < startMs + DAY_MS);
  return jsonReply(200, {
    entries: entries.map(({ atMs, event, modelId, path }) => ({
      timestamp: dateText(server, atMs),
      event,
      model_id: modelId ?? null,
      tinker_path: path ?? null,
      purpose: null,
    })),
  });
};

export const billingUsage: RouteHandler<'billingUsage'> = ({ server, tenant, query }) => {
  const startMs = new Date(query.startingOn).getTime();
  const endMs = new Date(query.endingBefore).getTime();
  if (startMs % HOUR_MS !== 0 || endMs % HOUR_MS !== 0) refuse(400, 'starting_on and ending_before must be full UTC hours');
  if (endMs <= startMs || endMs - startMs > 14 * DAY_MS) refuse(400, 'ending_before must be after starting_on, by at most 14 days');
  if (startMs > wallClockMs(server)) refuse(400, 'starting_on must not be in the future');
  const used = [...tenant.usage].filter(({ atMs }) => atMs >= startMs && atMs < endMs);
  used.sort((left, right) => left.atMs - right.atMs || right.amount - left.amount);
  const sessionIds = [...new Set(used.map(({ sessionId }) => sessionId))].filter((id) => tenant.sessions.has(id));
  return jsonReply(200, {
    data: used.map((record) => ({
      bucket_start: dateText(server, record.atMs),
      bucket_end: dateText(server, record.atMs + HOUR_MS),
      base_model: record.baseModel,
      user_id: tenant.userUrn,
      user_name: tenant.label,
      session_id: record.sessionId === '' ? null : record.sessionId,
      project_id: tenant.sessions.get(record.sessionId)?.projectId ?? null,
      event_info: eventInfo(record),
    })),
    sessions: Object.fromEntries(
      sessionIds.map((id) => [id, { user_metadata: sessionMetadata(tenant.sessions.get(id)?.userMetadata ?? {}) }]),
    ),
  });
};

function eventInfo({ kind, amount }: UsageRecord): Record<string, unknown> {
  switch (kind) {
    case 'checkpoint':
      return { type: kind, count: amount };
    case 'sampling_prefill':
      return { type: kind, cached: false, token_count: amount };
    default:
      return { type: kind, token_count: amount };
  }
}

function sessionMetadata(metadata: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}
