import type { Clock } from '@tinkex/http';
import type { Dialect } from '../dialects/dialect.js';
import type { ServerReply } from '../requests/message.js';
import { FutureStore, type RetentionLimits } from './future-store.js';
import type { AuditRecord, CheckpointRecord, ModelRecord, SamplerRecord, SessionRecord, UsageRecord } from './records.js';
import type { StateChanges, TableName } from './state-changes.js';

const MAX_TELEMETRY_EVENTS = 10_000;
const HOUR_MS = 3_600_000;
const MAX_REPLAYS = 1_000;

/** A reply that is given again to a request with the same idempotency key and body. */
export interface Replay {
  readonly fingerprint: string;
  readonly reply: ServerReply;
}

/** Everything that belongs to one credential. Tenants share only what they publish. */
export class Tenant {
  /** A short name that does not contain the key. */
  readonly label: string;
  /** The hash of its key. */
  readonly keyHash: string;
  /** The user's URN, as in the `sub` claim. */
  readonly userUrn: string;
  readonly sessions = new Map<string, SessionRecord>();
  readonly models = new Map<string, ModelRecord>();
  readonly samplers = new Map<string, SamplerRecord>();
  /** Checkpoints by path. */
  readonly checkpoints = new Map<string, CheckpointRecord>();
  readonly futures: FutureStore;
  readonly audit: AuditRecord[] = [];
  /** Whether its key is refused. */
  isRevoked = false;
  readonly #changes: StateChanges;
  readonly #usage = new Map<string, UsageRecord>();
  readonly #telemetry: unknown[] = [];
  readonly #replays = new Map<string, Replay>();

  constructor(init: {
    readonly label: string;
    readonly keyHash: string;
    readonly clock: Clock;
    readonly limits: RetentionLimits;
    readonly changes: StateChanges;
  }) {
    const { label, clock, limits } = init;
    this.label = label;
    this.keyHash = init.keyHash;
    this.#changes = init.changes;
    this.userUrn = `tml:organization_user:${label}`;
    this.futures = new FutureStore(clock, limits);
  }

  /** To be called when a record has changed that outlives a restart. */
  changed(table: TableName, id: string): void {
    this.#changes.changed(this, table, id);
  }

  /** Gives up the sequence ID of a submission that was refused for good. A server without gaps keeps expecting it. */
  skip(modelId: string, seqId: number, { order }: Pick<Dialect, 'order'>): void {
    if (order === 'gapless') return;
    this.models.get(modelId)?.lane.skip(seqId);
    this.changed('progress', modelId);
  }

  addAudit(record: AuditRecord): void {
    this.changed('audit', String(this.audit.push(record) - 1));
  }

  /** What was used, summed by hour, session, model and kind. */
  get usage(): Iterable<UsageRecord> {
    return this.#usage.values();
  }

  addUsage(kind: UsageRecord['kind'], amount: number, atMs: number, sessionId: string, baseModel: string): void {
    const hourMs = atMs - (atMs % HOUR_MS);
    const key = `${kind} ${sessionId} ${baseModel} ${hourMs}`;
    const record = this.#usage.get(key);
    if (record === undefined) {
      this.#usage.set(key, { atMs: hourMs, sessionId, baseModel, kind, amount });
    } else {
      record.amount += amount;
    }
    this.changed('usage', key);
  }

  usageKeys(): Iterable<string> {
    return this.#usage.keys();
  }

  usageOf(key: string): UsageRecord | undefined {
    return this.#usage.get(key);
  }

  /** The newest telemetry events this tenant's clients sent. */
  get telemetry(): readonly unknown[] {
    return this.#telemetry;
  }

  addTelemetry(events: readonly unknown[]): void {
    this.#telemetry.push(...events);
    if (this.#telemetry.length > MAX_TELEMETRY_EVENTS) this.#telemetry.splice(0, this.#telemetry.length - MAX_TELEMETRY_EVENTS);
  }

  /** The reply to an earlier request with this idempotency key. */
  replay(key: string): Replay | undefined {
    return this.#replays.get(key);
  }

  replayKeys(): Iterable<string> {
    return this.#replays.keys();
  }

  remember(key: string, replay: Replay): void {
    this.#replays.set(key, replay);
    this.changed('replay', key);
    for (const oldest of this.#replays.keys()) {
      if (this.#replays.size <= MAX_REPLAYS) break;
      this.#replays.delete(oldest);
    }
  }
}
