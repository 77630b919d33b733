import type { ModelRecord } from './records.js';
import type { Tenant } from './tenant.js';

/** What is stored of a tenant, one record at a time. */
export type TableName =
  | 'tenant'
  | 'session'
  | 'model'
  | 'accepted'
  | 'progress'
  | 'sampler'
  | 'checkpoint'
  | 'future'
  | 'replay'
  | 'audit'
  | 'usage';

/** Receives what has changed, to keep it across restarts. */
export interface StateChanges {
  /** A record was created, changed or deleted. */
  changed(tenant: Tenant, table: TableName, id: string): void;
  /** The engine of a model has changed: weights, optimizer or accumulated gradients. Await it before the next operation of the model. */
  trained(tenant: Tenant, model: ModelRecord): void | Promise<void>;
  /**
   * To be called before anything is acknowledged. Resolves when all changes so far are as safe as the server promises; undefined when they
   * are already. Rejects, or throws, when they cannot be written.
   */
  settle(): Promise<void> | undefined;
}

/** For servers that keep their state in memory only. */
export const NOTHING_KEPT: StateChanges = {
  changed: () => undefined,
  trained: () => undefined,
  settle: () => undefined,
};
