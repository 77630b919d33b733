import { signedUrl } from '../archive/signed-downloads.js';
import type { OperationHandler } from '../exchange/exchange.js';
import { jsonReply, refuse } from '../exchange/message.js';
import type { SessionRecord } from '../state/records.js';
import { sessionOf } from './lookup.js';
import { page } from './page.js';
import { checkSdkVersion } from './service.js';

const TRACE_LIFETIME_MS = 3_600_000;

export const createSession: OperationHandler<'createSession'> = (exchange) => {
  const { context, request, tenant } = exchange;
  checkSdkVersion(context, request.sdkVersion);
  checkProject(context.settings.projects, request.projectId);
  const nowMs = context.clock.now();
  const session: SessionRecord = {
    sessionId: context.ids.session(),
    createdAtMs: nowMs,
    tags: request.tags,
    userMetadata: request.userMetadata ?? {},
    sdkVersion: request.sdkVersion,
    projectId: request.projectId,
    lastHeartbeatMs: nowMs,
    modelSeqs: new Map(),
    samplerSeqs: new Map(),
    traceAskedAtMs: undefined,
  };
  tenant.sessions.set(session.sessionId, session);
  context.changed();
  return jsonReply(200, {
    type: 'create_session',
    session_id: session.sessionId,
    info_message: null,
    warning_message: null,
    error_message: null,
  });
};

export const sessionHeartbeat: OperationHandler<'sessionHeartbeat'> = (exchange) => {
  const session = sessionOf(exchange, exchange.request.sessionId);
  session.lastHeartbeatMs = exchange.context.clock.now();
  return jsonReply(200, { type: 'session_heartbeat' });
};

export const listSessions: OperationHandler<'listSessions'> = ({ tenant, query }) => {
  const newestFirst = [...tenant.sessions.keys()].reverse();
  return jsonReply(200, { sessions: page(newestFirst, query, 20).items });
};

export const getSession: OperationHandler<'getSession'> = ({ tenant, params }) => {
  const sessionId = params['session_id'] ?? '';
  if (!tenant.sessions.has(sessionId)) refuse(404, `There is no session ${sessionId}`);
  const models = [...tenant.models.values()].filter((model) => model.sessionId === sessionId);
  const samplers = [...tenant.samplers.values()].filter((sampler) => sampler.sessionId === sessionId);
  return jsonReply(200, {
    training_run_ids: models.map(({ modelId }) => modelId),
    sampler_ids: samplers.map(({ samplerId }) => samplerId),
  });
};

export const assignSessionProject: OperationHandler<'assignSessionProject'> = ({ context, tenant, params, request }) => {
  const sessionId = params['session_id'] ?? '';
  const session = tenant.sessions.get(sessionId);
  if (session === undefined) refuse(404, `There is no session ${sessionId}`);
  checkProject(context.settings.projects, request.projectId);
  session.projectId = request.projectId;
  context.changed();
  return jsonReply(200, {});
};

export const exportSessionTrace: OperationHandler<'exportSessionTrace'> = ({ context, tenant, params }) => {
  const sessionId = params['session_id'] ?? '';
  const session = tenant.sessions.get(sessionId);
  if (session === undefined) refuse(404, `There is no session ${sessionId}`);
  const nowMs = context.clock.now();
  session.traceAskedAtMs ??= nowMs;
  if (nowMs - session.traceAskedAtMs < context.settings.archiveBuildMs) return jsonReply(200, { status: 'pending' });
  const resource = `/signed/trace/${encodeURIComponent(tenant.label)}/${encodeURIComponent(sessionId)}`;
  return jsonReply(200, { status: 'ready', url: signedUrl(context, resource, TRACE_LIFETIME_MS).url });
};

function checkProject(projects: ReadonlySet<string> | undefined, projectId: string | undefined): void {
  if (projectId !== undefined && projects !== undefined && !projects.has(projectId)) {
    refuse(403, `There is no access to the project ${projectId}`);
  }
}
