import { signedUrl } from '../archive/signed-downloads.js';
import type { Exchange, OperationHandler } from '../exchange/exchange.js';
import { jsonReply, refuse } from '../exchange/message.js';
import { dateText } from '../state/server-context.js';
import { ownCheckpoint } from './checkpoints.js';

const URL_LIFETIME_MS = 15 * 60_000;

export const checkpointArchive: OperationHandler<'checkpointArchive'> = (exchange) => {
  const { context, tenant } = exchange;
  const checkpoint = ownCheckpoint(exchange as Exchange);
  const nowMs = context.clock.now();
  checkpoint.archiveReadyAtMs ??= nowMs + context.settings.archiveBuildMs;
  if (nowMs < checkpoint.archiveReadyAtMs) refuse(503, 'The archive is being built; ask again later');
  const resource = `/signed/archive/${encodeURIComponent(tenant.label)}/${encodeURIComponent(checkpoint.path)}`;
  const { url, expiresAtMs } = signedUrl(context, resource, URL_LIFETIME_MS);
  if (context.dialect.archive === 'json') return jsonReply(200, { url, expires: dateText(context, expiresAtMs) });
  return { status: 302, headers: { location: url, expires: new Date(expiresAtMs).toUTCString() }, body: '' };
};
