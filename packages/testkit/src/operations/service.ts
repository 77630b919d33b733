import type { JsonValue } from '@tinkex/types';
import { clientConfigResponse, stringifyJson } from '@tinkex/types/wire';
import type { OperationHandler } from '../exchange/exchange.js';
import { jsonReply, jsonTextReply, refuse } from '../exchange/message.js';
import type { ServerContext } from '../state/server-context.js';
import { wallClockMs } from '../state/server-context.js';

export const healthz: OperationHandler<'healthz'> = () => jsonReply(200, { status: 'ok' });

export const getServerCapabilities: OperationHandler<'getServerCapabilities'> = ({ context }) => {
  const { modelNameKey, hasModelDetails } = context.dialect;
  const models = context.engine.supportedModels.map(({ modelName, maxContextLength }) => ({
    [modelNameKey]: modelName,
    ...(hasModelDetails ? { max_context_length: maxContextLength } : {}),
  }));
  return jsonReply(200, { supported_models: models });
};

export const clientConfig: OperationHandler<'clientConfig'> = ({ context, request }) => {
  checkSdkVersion(context, request.sdkVersion);
  return jsonTextReply(200, stringifyJson({ ...configFlags(context), ...context.dialect.clientConfig } as JsonValue));
};

export const clientDynamicConfig: OperationHandler<'clientDynamicConfig'> = ({ context }) =>
  jsonReply(200, { refresh_interval_sec: context.settings.refreshIntervalSec });

export const authToken: OperationHandler<'authToken'> = ({ context, tenant }) => {
  const { jwt } = context.settings;
  if (jwt === undefined) {
    refuse(404, 'This server does not exchange credentials for tokens');
  }
  const token = context.issuer.issue({
    sub: tenant.userUrn,
    tenant: tenant.label,
    iss: 'passport-testkit',
    exp: Math.floor(wallClockMs(context) / 1000) + jwt.lifetimeSec,
    ...(jwt.email === undefined ? {} : { email: jwt.email }),
  });
  return jsonReply(200, { jwt: token });
};

export const telemetry: OperationHandler<'telemetry'> = (exchange) => {
  exchange.tenant.addTelemetry(exchange.request.events);
  return jsonReply(200, { status: 'accepted' });
};

/** Refuses SDK versions the dialect does not know. */
export function checkSdkVersion(context: ServerContext, sdkVersion: string): void {
  const { sdkVersions } = context.dialect;
  if (sdkVersions !== undefined && !sdkVersions.test(sdkVersion)) {
    refuse(400, `The SDK version ${sdkVersion} is not supported`);
  }
}

/** The flags that were set, in the names of the wire; flags left alone are not sent. */
function configFlags(context: ServerContext): Record<string, unknown> {
  const { config, jwt } = context.settings;
  const given = jwt === undefined ? config : { pjwtAuthEnabled: true, ...config };
  const all = clientConfigResponse.encode({ ...clientConfigResponse.decode({}), ...given });
  const names = new Set(Object.keys(given).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)));
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}
