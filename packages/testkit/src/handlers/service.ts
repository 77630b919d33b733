import type { JsonValue } from '@tinkex/types';
import { clientConfigResponse, stringifyJson } from '@tinkex/types/wire';
import { jsonReply, jsonTextReply, refuse } from '../requests/message.js';
import type { RouteHandler } from '../requests/request-context.js';
import { type ServerContext, wallClockMs } from '../state/server-context.js';

export const healthz: RouteHandler<'healthz'> = () => jsonReply(200, { status: 'ok' });

export const getServerCapabilities: RouteHandler<'getServerCapabilities'> = ({ server }) => {
  const { modelNameKey, hasModelDetails } = server.dialect;
  const models = server.engine.supportedModels.map(({ modelName, maxContextLength, trainable = true, sampleable = true }) => ({
    [modelNameKey]: modelName,
    ...(hasModelDetails && { max_context_length: maxContextLength, trainable, sampleable }),
  }));
  return jsonReply(200, { supported_models: models });
};

export const clientConfig: RouteHandler<'clientConfig'> = ({ server, request }) => {
  checkSdkVersion(server, request.sdkVersion);
  return jsonTextReply(
    200,
    stringifyJson({ ...configFlags(server), ...server.dialect.clientConfig, ...server.settings.flags.config } as JsonValue),
  );
};

export const clientDynamicConfig: RouteHandler<'clientDynamicConfig'> = ({ server }) =>
  jsonReply(200, { refresh_interval_sec: server.settings.refreshIntervalSec, ...server.settings.flags.dynamicConfig });

export const authToken: RouteHandler<'authToken'> = ({ server, tenant }) => {
  const { jwt } = server.settings;
  if (jwt === undefined) refuse(404, 'This server does not exchange credentials for tokens');
  const token = server.issuer.issue({
    sub: tenant.userUrn,
    org_id: jwt.orgId,
    tenant: tenant.label,
    iss: 'passport-testkit',
    exp: Math.floor(wallClockMs(server) / 1000) + jwt.lifetimeSec,
    email: jwt.email,
  });
  return jsonReply(200, { jwt: token });
};

export const telemetry: RouteHandler<'telemetry'> = (context) => {
  context.tenant.addTelemetry(context.request.events);
  return jsonReply(200, { status: 'accepted' });
};

/** Refuses SDK versions that the dialect does not accept. */
export function checkSdkVersion(server: ServerContext, sdkVersion: string): void {
  const { sdkVersions } = server.dialect;
  if (sdkVersions !== undefined && !sdkVersions.test(sdkVersion)) refuse(400, `The SDK version ${sdkVersion} is not supported`);
}

/** The flags that were set, under their wire names; the others are not sent. */
function configFlags(server: ServerContext): Record<string, unknown> {
  const { config, jwt } = server.settings;
  const given = jwt === undefined ? config : { pjwtAuthEnabled: true, ...config };
  const all = clientConfigResponse.encode({ ...clientConfigResponse.decode({}), ...given });
  const names = new Set(Object.keys(given).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)));
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}
