import { signedUrl } from '../archive/signed-downloads.js';
import { jsonReply, refuse } from '../requests/message.js';
import type { RouteHandler } from '../requests/request-context.js';
import { dateText } from '../state/server-context.js';
import { ownCheckpoint } from './checkpoints.js';

const URL_LIFETIME_MS = 15 * 60_000;

export const checkpointArchive: RouteHandler<'checkpointArchive'> = (context) => {
  const { server, tenant } = context;
  const checkpoint = ownCheckpoint(context);
  const nowMs = server.clock.now();
  checkpoint.archiveReadyAtMs ??= nowMs + server.settings.archiveBuildMs;
  if (nowMs < checkpoint.archiveReadyAtMs) refuse(503, 'The archive is being built; ask again later');
  const resource = `/signed/archive/${encodeURIComponent(tenant.label)}/${encodeURIComponent(checkpoint.path)}`;
  const { url, expiresAtMs } = signedUrl(server, resource, URL_LIFETIME_MS);
  if (server.dialect.archive === 'json') return jsonReply(200, { url, expires: dateText(server, expiresAtMs) });
  return { status: 302, headers: { location: url, expires: new Date(expiresAtMs).toUTCString() }, body: '' };
};
