import { elapsedMs } from '@tinkex/http/clock';
import { refuse } from '../requests/message.js';
import type { RequestContext } from '../requests/request-context.js';
import type { ModelRecord, SamplerRecord, SessionRecord } from '../state/records.js';
import type { Tenant } from '../state/tenant.js';

/** The tenant's live session, which takes operations; or 404, or 400 once it has finished. */
export function sessionOf(context: RequestContext, sessionId: string): SessionRecord {
  const session = liveSessionOf(context, sessionId);
  // Not a violation: a request may be on its way while the client finishes the session.
  if (session.finished !== undefined) refuse(400, `The session ${sessionId} has finished (${session.finished.reason}): no more operations`);
  return session;
}

/** The tenant's session, finished or not, as long as its heartbeats come; or 404. */
export function liveSessionOf(context: RequestContext, sessionId: string): SessionRecord {
  const session = context.tenant.sessions.get(sessionId);
  if (session === undefined) context.reject(404, 'session-unknown', `There is no session ${sessionId}`);
  const { clock, settings } = context.server;
  if (elapsedMs(clock, session.lastHeartbeat) > settings.sessionTtlMs) {
    context.reject(404, 'session-unknown', `The session ${sessionId} has expired: no heartbeat for ${settings.sessionTtlMs} ms`);
  }
  return session;
}

/** The tenant's model in a live session, or 404. */
export function modelOf(context: RequestContext, modelId: string): ModelRecord {
  const model = context.tenant.models.get(modelId);
  if (model?.copiedInto !== undefined) refuse(400, `The run ${modelId} holds a copy of weights and cannot be trained`);
  if (model === undefined || model.isUnloaded) {
    context.reject(404, 'model-unknown', `There is no model ${modelId}${model === undefined ? '' : ': it was unloaded'}`);
  }
  sessionOf(context, model.sessionId);
  model.lastRequestMs = context.server.clock.wallMs();
  return model;
}

/** The tenant's sampling session in a live session, or 404. */
export function samplerOf(context: RequestContext, samplerId: string): SamplerRecord {
  const sampler = context.tenant.samplers.get(samplerId);
  if (sampler === undefined) context.reject(404, 'sampler-unknown', `There is no sampling session ${samplerId}`);
  sessionOf(context, sampler.sessionId);
  return sampler;
}

/** The tenant's training run, even if its session has expired, or 404. */
export function runOf(tenant: Tenant, trainingRunId: string): ModelRecord {
  const run = tenant.models.get(trainingRunId);
  if (run === undefined) refuse(404, `There is no training run ${trainingRunId}`);
  return run;
}

/** The page of a list that a query selects, and the cursor that describes it. */
export function pageOf<Item>(
  all: readonly Item[],
  { limit, offset = 0 }: { readonly limit?: number | undefined; readonly offset?: number | undefined },
  defaultLimit: number,
): { readonly items: Item[]; readonly cursor: { readonly offset: number; readonly limit: number; readonly total_count: number } } {
  const size = limit ?? defaultLimit;
  return { items: all.slice(offset, offset + size), cursor: { offset, limit: size, total_count: all.length } };
}
