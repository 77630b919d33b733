import { jsonReply, refuse } from '../requests/message.js';
import type { RouteHandler } from '../requests/request-context.js';
import type { UsageRecord } from '../state/records.js';
import { dateText, liveCheckpoints, type ServerContext, wallClockMs } from '../state/server-context.js';
import type { Tenant } from '../state/tenant.js';
import { textValues } from './text-values.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const USD_PER_MILLION_TOKENS = 1;
const USD_PER_GIGABYTE_MONTH = 0.1;

export const auditLog: RouteHandler<'auditLog'> = ({ server, tenant, query }) => {
  const { eventType = 'all' } = query;
  const dayMs = query.day === undefined ? wallClockMs(server) : new Date(query.day).getTime();
  if (Number.isNaN(dayMs)) refuse(400, 'day must be an ISO date');
  const startMs = dayMs - (dayMs % DAY_MS);
  const isWanted = (event: string): boolean => eventType === 'all' || event.startsWith(`${eventType.slice(0, -1)}_`);
  const entries = tenant.audit.filter(({ atMs, event }) => atMs >= startMs && atMs < startMs + DAY_MS && isWanted(event));
  return jsonReply(200, {
    entries: entries.map(({ atMs, event, modelId, path }) => ({
      timestamp: dateText(server, atMs),
      event,
      event_details: { actor: tenant.userUrn, ...(path !== undefined && { tinker_path: path }) },
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
      ...costOf(record),
      event_info: eventInfo(record),
    })),
    sessions: Object.fromEntries(sessionIds.map((id) => [id, { user_metadata: textValues(tenant.sessions.get(id)?.userMetadata ?? {}) }])),
    cost_data_through: null,
  });
};

export const currentCheckpointStorageUsage: RouteHandler<'currentCheckpointStorageUsage'> = ({ server, tenant, query }) => {
  const sizes = new Map<string, number[]>();
  for (const { trainingRunId, sizeBytes } of liveCheckpoints(server, tenant)) {
    const projectId = tenant.sessions.get(tenant.models.get(trainingRunId)?.sessionId ?? '')?.projectId ?? 'default';
    if (query.projectId === undefined || query.projectId === projectId) sizes.set(projectId, [...(sizes.get(projectId) ?? []), sizeBytes]);
  }
  return jsonReply(200, {
    effective_rate_usd_per_gigabyte_month: USD_PER_GIGABYTE_MONTH,
    data: [...sizes].map(([projectId, all]) => {
      const sizeBytes = all.reduce((sum, size) => sum + size, 0);
      return {
        project_id: projectId,
        org_user_urn: tenant.userUrn,
        user_email: emailOf(server, tenant),
        user_name: tenant.label,
        checkpoint_count: all.length,
        size_bytes: sizeBytes,
        size_gigabytes: sizeBytes / 1e9,
        estimated_monthly_cost_usd: (sizeBytes / 1e9) * USD_PER_GIGABYTE_MONTH,
      };
    }),
  });
};

export const getOwnApiKey: RouteHandler<'getOwnApiKey'> = ({ server, tenant }) =>
  jsonReply(200, {
    key_id: server.tenants.numberOf(tenant),
    name: tenant.label,
    note: '',
    details: { org_details: { name: 'testkit' }, user_details: { email: emailOf(server, tenant) } },
  });

/** The key is refused from now on; what belongs to it stays. */
export const revokeOwnApiKey: RouteHandler<'revokeOwnApiKey'> = ({ server, tenant }) => {
  server.tenants.revoke(tenant);
  return jsonReply(200, {});
};

function emailOf(server: ServerContext, { label }: Tenant): string {
  return server.settings.jwt?.email ?? `${label}@example.com`;
}

/** Invented prices: the service's are not part of the protocol. */
function costOf({ kind, amount }: UsageRecord): Record<string, number> {
  if (kind === 'checkpoint') return {};
  return { effective_rate_usd_per_million_tokens: USD_PER_MILLION_TOKENS, estimated_cost_usd: (USD_PER_MILLION_TOKENS * amount) / 1e6 };
}

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
