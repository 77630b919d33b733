import type { Exchange } from '../exchange/exchange.js';
import { refuse } from '../exchange/message.js';
import type { ModelRecord, SamplerRecord, SessionRecord } from '../state/records.js';
import type { Tenant } from '../state/tenant.js';

/** The tenant's living session, or 404. */
export function sessionOf(exchange: Exchange, sessionId: string): SessionRecord {
  const session = exchange.tenant.sessions.get(sessionId);
  if (session === undefined) exchange.reject(404, 'session-unknown', `There is no session ${sessionId}`);
  const { clock, settings } = exchange.context;
  if (clock.now() - session.lastHeartbeatMs > settings.sessionTtlMs) {
    exchange.reject(404, 'session-unknown', `The session ${sessionId} has expired: no heartbeat for ${settings.sessionTtlMs} ms`);
  }
  return session;
}

/** The tenant's model in a living session, or 404. */
export function modelOf(exchange: Exchange, modelId: string): ModelRecord {
  const model = exchange.tenant.models.get(modelId);
  if (model === undefined || model.isUnloaded) {
    exchange.reject(404, 'model-unknown', `There is no model ${modelId}${model === undefined ? '' : ': it was unloaded'}`);
  }
  sessionOf(exchange, model.sessionId);
  model.lastRequestMs = exchange.context.clock.now();
  return model;
}

/** The tenant's sampling session in a living session, or 404. */
export function samplerOf(exchange: Exchange, samplerId: string): SamplerRecord {
  const sampler = exchange.tenant.samplers.get(samplerId);
  if (sampler === undefined) exchange.reject(404, 'sampler-unknown', `There is no sampling session ${samplerId}`);
  sessionOf(exchange, sampler.sessionId);
  return sampler;
}

/** The tenant's training run, living or not, or 404. */
export function runOf(tenant: Tenant, trainingRunId: string): ModelRecord {
  const run = tenant.models.get(trainingRunId);
  if (run === undefined) refuse(404, `There is no training run ${trainingRunId}`);
  return run;
}
