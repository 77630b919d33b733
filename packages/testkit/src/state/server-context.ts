import type { Clock } from '@tinkex/http';
import type { Dialect } from '../dialects/dialect.js';
import type { Engine } from '../engine/engine.js';
import type { ServerSettings } from '../server/server-options.js';
import type { Executor } from './executor.js';
import type { IdMaker } from './id-maker.js';
import type { QueuePause } from './queue-pause.js';
import type { CheckpointRecord } from './records.js';
import type { StateChanges } from './state-changes.js';
import type { Tenant } from './tenant.js';
import type { TenantDirectory } from './tenant-directory.js';
import type { TokenIssuer } from './token-issuer.js';

/** The server as its handlers see it. */
export interface ServerContext {
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly engine: Engine;
  readonly tenants: TenantDirectory;
  readonly executor: Executor;
  readonly issuer: TokenIssuer;
  readonly ids: IdMaker;
  readonly pause: QueuePause;
  /** The server's address without a trailing slash, for the URLs that it gives out. */
  origin: string;
  /** Who keeps the state across restarts. */
  readonly changes: StateChanges;
}

/** The server's date in milliseconds since the epoch: its clock plus the configured skew. */
export function wallClockMs(server: ServerContext): number {
  return server.clock.wallMs() + server.settings.clockSkewMs;
}

/** A date as the dialect writes it. */
export function dateText(server: ServerContext, ms: number): string {
  const text = new Date(ms).toISOString();
  return server.dialect.hasTimeZone ? text : text.slice(0, -1);
}

/** The tenant's checkpoint, or a public one of another tenant; undefined when it does not exist or has expired. */
export function findCheckpoint(server: ServerContext, tenant: Tenant, path: string): CheckpointRecord | undefined {
  const own = liveCheckpoint(server, tenant, path);
  if (own !== undefined) return own;
  for (const other of server.tenants.all()) {
    const record = liveCheckpoint(server, other, path);
    if (record?.isPublic) return record;
  }
  return undefined;
}

/** The tenant's checkpoint. Removes it if it has expired. */
export function liveCheckpoint(server: ServerContext, tenant: Tenant, path: string): CheckpointRecord | undefined {
  const record = tenant.checkpoints.get(path);
  if (record?.expiresAtMs !== undefined && record.expiresAtMs <= wallClockMs(server)) {
    tenant.checkpoints.delete(path);
    tenant.changed('checkpoint', path);
    return undefined;
  }
  return record;
}

/** The tenant's checkpoints that have not expired, oldest first. */
export function liveCheckpoints(server: ServerContext, tenant: Tenant): CheckpointRecord[] {
  return [...tenant.checkpoints.keys()].flatMap((path) => liveCheckpoint(server, tenant, path) ?? []);
}
