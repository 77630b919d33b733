import type { RecordedCall } from '../recorder/recorded-call.js';
import type { Recorder } from '../recorder/recorder.js';
import { refuse } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';
import { type ServerContext, wallClockMs } from '../state/server-context.js';
import type { Tenant } from '../state/tenant.js';

/** Routes that take the raw credential even when the JWT exchange is on. */
const RAW_CREDENTIAL_ROUTES: ReadonlySet<RouteName> = new Set<RouteName>([
  'authToken',
  'clientConfig',
  'getOwnApiKey',
  'healthz',
  'revokeOwnApiKey',
]);
const ANONYMOUS = 'anonymous';

/** Finds the tenant of a request, or refuses it with 401. */
export function authenticate(
  server: ServerContext,
  recorder: Recorder,
  call: RecordedCall,
  route: RouteName,
  headers: Readonly<Record<string, string | undefined>>,
): Tenant {
  const credential = headers['x-api-key'];
  if (credential === undefined || credential === '') {
    if (server.dialect.keys === 'none' || route === 'healthz') {
      return server.tenants.find(ANONYMOUS) ?? server.tenants.add(ANONYMOUS, ANONYMOUS);
    }
    recorder.violate(call, 'api-key-missing', 'there is no X-API-Key header');
    refuse(401, 'Missing credential: send an API key or a token in X-API-Key');
  }
  if (credential.startsWith('eyJ')) return tenantOfToken(server, recorder, call, credential);
  const tenant = server.tenants.find(credential);
  if (tenant === undefined) {
    recorder.violate(call, 'api-key-unknown', 'the key in X-API-Key is not one of this server');
    refuse(401, 'Invalid credential in X-API-Key');
  }
  if (server.settings.jwt !== undefined && !RAW_CREDENTIAL_ROUTES.has(route)) {
    recorder.violate(call, 'jwt-not-used', `${route} was called with the API key instead of the token`);
  }
  return tenant;
}

function tenantOfToken(server: ServerContext, recorder: Recorder, call: RecordedCall, token: string): Tenant {
  const claims = server.issuer.read(token);
  const tenant = claims === undefined ? undefined : server.tenants.byLabel(claims.tenant);
  if (claims === undefined || tenant === undefined) {
    recorder.violate(call, 'api-key-unknown', 'the token in X-API-Key was not issued by this server');
    refuse(401, 'Invalid token in X-API-Key');
  }
  if (claims.exp * 1000 <= wallClockMs(server)) refuse(401, 'The token in X-API-Key has expired');
  return tenant;
}
