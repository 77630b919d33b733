import { elapsedMs } from '@tinkex/http/clock';
import { signedUrl } from '../archive/signed-downloads.js';
import { jsonReply, refuse } from '../requests/message.js';
import type { RouteHandler } from '../requests/request-context.js';
import type { SessionRecord } from '../state/records.js';
import { liveSessionOf, pageOf } from './lookup.js';
import { checkSdkVersion } from './service.js';
import { textValues } from './text-values.js';

const TRACE_LIFETIME_MS = 3_600_000;

export const createSession: RouteHandler<'createSession'> = (context) => {
  const { server, request, tenant } = context;
  checkSdkVersion(server, request.sdkVersion);
  checkProject(server.settings.projects, request.projectId);
  const session: SessionRecord = {
    sessionId: server.ids.session(),
    createdAtMs: server.clock.wallMs(),
    tags: request.tags,
    userMetadata: request.userMetadata ?? {},
    sdkVersion: request.sdkVersion,
    projectId: request.projectId,
    displayName: request.displayName,
    lastHeartbeat: server.clock.monotonicMs(),
    finished: undefined,
    modelSeqs: new Map(),
    samplerSeqs: new Map(),
    customLosses: new Map(),
    traceAskedAt: undefined,
  };
  tenant.sessions.set(session.sessionId, session);
  tenant.changed('session', session.sessionId);
  return jsonReply(200, {
    type: 'create_session',
    session_id: session.sessionId,
    info_message: null,
    warning_message: null,
    error_message: null,
  });
};

export const sessionHeartbeat: RouteHandler<'sessionHeartbeat'> = (context) => {
  const { sessionId } = context.request;
  const session = liveSessionOf(context, sessionId);
  // The client learns here that another process has finished the session: not a violation.
  if (session.finished !== undefined) refuse(410, `The session ${sessionId} has finished (${session.finished.reason})`);
  session.lastHeartbeat = context.server.clock.monotonicMs();
  return jsonReply(200, { type: 'session_heartbeat' });
};

export const listSessions: RouteHandler<'listSessions'> = ({ tenant, query }) => {
  const newestFirst = [...tenant.sessions.keys()].reverse();
  return jsonReply(200, { sessions: pageOf(newestFirst, query, 20).items });
};

export const getSession: RouteHandler<'getSession'> = ({ tenant, params }) => {
  const sessionId = params['session_id'] ?? '';
  const session = tenant.sessions.get(sessionId);
  if (session === undefined) refuse(404, `There is no session ${sessionId}`);
  const models = [...tenant.models.values()].filter((model) => model.sessionId === sessionId);
  const samplers = [...tenant.samplers.values()].filter((sampler) => sampler.sessionId === sessionId);
  return jsonReply(200, {
    training_run_ids: models.map(({ modelId }) => modelId),
    sampler_ids: samplers.map(({ samplerId }) => samplerId),
    user_metadata: textValues(session.userMetadata),
    display_name: session.displayName ?? null,
  });
};

/** Ends a session. The first reason stays; a repeat changes nothing. */
export const finishSession: RouteHandler<'finishSession'> = ({ tenant, params, request }) => {
  const sessionId = params['session_id'] ?? '';
  const session = tenant.sessions.get(sessionId);
  if (session === undefined) refuse(404, `There is no session ${sessionId}`);
  session.finished ??= { reason: request.reason, detail: request.detail ?? undefined };
  tenant.changed('session', sessionId);
  return jsonReply(200, {});
};

export const assignSessionProject: RouteHandler<'assignSessionProject'> = ({ server, tenant, params, request }) => {
  const sessionId = params['session_id'] ?? '';
  const session = tenant.sessions.get(sessionId);
  if (session === undefined) refuse(404, `There is no session ${sessionId}`);
  checkProject(server.settings.projects, request.projectId);
  session.projectId = request.projectId;
  tenant.changed('session', sessionId);
  return jsonReply(200, {});
};

export const exportSessionTrace: RouteHandler<'exportSessionTrace'> = ({ server, tenant, params }) => {
  const sessionId = params['session_id'] ?? '';
  const session = tenant.sessions.get(sessionId);
  if (session === undefined) refuse(404, `There is no session ${sessionId}`);
  session.traceAskedAt ??= server.clock.monotonicMs();
  if (elapsedMs(server.clock, session.traceAskedAt) < server.settings.archiveBuildMs) return jsonReply(200, { status: 'pending' });
  const resource = `/signed/trace/${encodeURIComponent(tenant.label)}/${encodeURIComponent(sessionId)}`;
  return jsonReply(200, { status: 'ready', url: signedUrl(server, resource, TRACE_LIFETIME_MS).url });
};

/** Answers 403 for a project that the server does not have. */
export function checkProject(projects: ReadonlySet<string> | undefined, projectId: string | undefined): void {
  if (projectId !== undefined && projects !== undefined && !projects.has(projectId)) refuse(403, `No access to the project ${projectId}`);
}
