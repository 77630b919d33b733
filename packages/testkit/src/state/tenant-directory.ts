import { createHash } from 'node:crypto';
import type { Clock } from '@tinkex/http';
import type { RetentionLimits } from './future-store.js';
import type { StateChanges } from './state-changes.js';
import { Tenant } from './tenant.js';

/** The key that every test server accepts unless it has its own list. */
export const DEFAULT_API_KEY = 'tml-test-key';

/** The tenants of a server. It holds keys only as hashes. */
export class TenantDirectory {
  readonly #clock: Clock;
  readonly #limits: RetentionLimits;
  readonly #changes: StateChanges;
  readonly #byHash = new Map<string, Tenant>();
  readonly #known: ReadonlySet<string> | undefined;
  readonly #acceptsPrefix: 'tml' | 'any';
  /** The last credential seen, so that a busy client's key is not hashed for every request. */
  #last: { readonly key: string; readonly tenant: Tenant } | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly limits: RetentionLimits;
    readonly changes: StateChanges;
    /** The keys that exist; undefined for any that the dialect accepts. */
    readonly apiKeys: readonly string[] | undefined;
    readonly keys: 'tml' | 'any' | 'none';
  }) {
    this.#clock = options.clock;
    this.#limits = options.limits;
    this.#changes = options.changes;
    this.#known = options.apiKeys === undefined ? undefined : new Set(options.apiKeys.map(hashOf));
    this.#acceptsPrefix = options.keys === 'tml' ? 'tml' : 'any';
  }

  all(): IterableIterator<Tenant> {
    return this.#byHash.values();
  }

  /** The tenant of a credential, created on first use; undefined when the credential is invalid. */
  find(key: string): Tenant | undefined {
    if (this.#last?.key === key) return this.#last.tenant;
    const hash = hashOf(key);
    if (this.#known === undefined ? this.#acceptsPrefix === 'tml' && !key.startsWith('tml-') : !this.#known.has(hash)) return undefined;
    const tenant = this.#byHash.get(hash) ?? this.add(hash, key === DEFAULT_API_KEY ? 'test' : undefined);
    if (tenant.isRevoked) return undefined;
    this.#last = { key, tenant };
    return tenant;
  }

  /** Creates the tenant of a hashed key. */
  add(hash: string, label = `tenant-${this.#byHash.size + 1}`): Tenant {
    const tenant = new Tenant({ label, keyHash: hash, clock: this.#clock, limits: this.#limits, changes: this.#changes });
    this.#byHash.set(hash, tenant);
    tenant.changed('tenant', '');
    return tenant;
  }

  /** The position of a tenant in the order of first use, from 1. */
  numberOf(tenant: Tenant): number {
    return [...this.#byHash.values()].indexOf(tenant) + 1;
  }

  /** Refuses the tenant's key from now on. */
  revoke(tenant: Tenant): void {
    tenant.isRevoked = true;
    tenant.changed('tenant', '');
    this.#last = undefined;
  }

  byLabel(label: string): Tenant | undefined {
    for (const tenant of this.#byHash.values()) {
      if (tenant.label === label) return tenant;
    }
    return undefined;
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
