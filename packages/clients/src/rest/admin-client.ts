import type { AuditEventType, AuditLogResponse, BillingUsageResponse, CurrentCheckpointStorageUsageResponse } from '@tinkex/types';
import { showAs } from '@tinkex/types/wire';
import type { ConnectionOptions } from '../connection/connection-options.js';
import type { CallOptions } from '../runtime/call-options.js';
import { RestConnection } from './rest-connection.js';

/** Options of `getAuditLog`. */
export interface AuditLogOptions extends CallOptions {
  /** Default `all`. */
  readonly eventType?: AuditEventType | undefined;
  /** A day in UTC, `YYYY-MM-DD`. Default: today on the server. */
  readonly day?: string | undefined;
}

/** Options of `getCurrentCheckpointStorageUsage`. */
export interface StorageUsageOptions extends CallOptions {
  /** Only this project. Default: all projects of the organization. */
  readonly projectId?: string | undefined;
}

/**
 * Reads what administrators see: the audit log, bills and storage. Needs no session and a key with the role; without it, methods throw
 * `PermissionDeniedError`.
 *
 * The constructor makes no request. Close it when you are done, or declare it with `await using`; a process that forgets still exits.
 *
 * @throws `ConfigurationError` for unknown or invalid options, immediately.
 */
export class AdminClient implements AsyncDisposable {
  readonly #connection: RestConnection;

  static {
    showAs(AdminClient, (client) => ({ baseUrl: client.#connection.baseUrl, projectId: client.#connection.projectId }));
  }

  constructor(options: ConnectionOptions = {}) {
    this.#connection = RestConnection.open(options);
  }

  /** What happened on a day, sorted by time. */
  getAuditLog(options: AuditLogOptions = {}): Promise<AuditLogResponse> {
    const { eventType = 'all', day } = options;
    return this.#connection.call('getAuditLog', 'auditLog', { query: { eventType, day } }, options);
  }

  /**
   * Usage events between two times, which must be full UTC hours at most 14 days apart. Text is sent by the protocol's rules: UTC as
   * `Z`, other zones as they are. Needs a key that may see bills.
   */
  getBillingUsage(startingOn: Date | string, endingBefore: Date | string, options: CallOptions = {}): Promise<BillingUsageResponse> {
    return this.#connection.call('getBillingUsage', 'billingUsage', { query: { startingOn, endingBefore } }, options);
  }

  /** The storage that checkpoints use now, by project and owner, with its estimated cost. May lag by an hour or two. */
  getCurrentCheckpointStorageUsage(options: StorageUsageOptions = {}): Promise<CurrentCheckpointStorageUsageResponse> {
    const { projectId } = options;
    const method = 'getCurrentCheckpointStorageUsage';
    return this.#connection.call(method, 'currentCheckpointStorageUsage', { query: { projectId } }, options);
  }

  /** Ends every call (`AbortedError`) and the connection. Idempotent. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
