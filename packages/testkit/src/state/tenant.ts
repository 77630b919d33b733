import type { Clock } from '@tinkex/http';
import type { ServerReply } from '../requests/message.js';
import { FutureStore, type RetentionLimits } from './future-store.js';
import type { AuditRecord, CheckpointRecord, ModelRecord, SamplerRecord, SessionRecord, UsageRecord } from './records.js';

const MAX_TELEMETRY_EVENTS = 10_000;
const HOUR_MS = 3_600_000;
const MAX_REPLAYS = 1_000;

/** Everything that belongs to one credential. Tenants share only what they publish. */
export class Tenant {
  /** A short name that does not contain the key. */
  readonly label: string;
  /** The user's URN, as in the `sub` claim. */
  readonly userUrn: string;
  readonly sessions = new Map<string, SessionRecord>();
  readonly models = new Map<string, ModelRecord>();
  readonly samplers = new Map<string, SamplerRecord>();
  /** Checkpoints by path. */
  readonly checkpoints = new Map<string, CheckpointRecord>();
  readonly futures: FutureStore;
  readonly audit: AuditRecord[] = [];
  readonly #usage = new Map<string, UsageRecord>();
  readonly #telemetry: unknown[] = [];
  readonly #replays = new Map<string, { readonly fingerprint: string; readonly reply: ServerReply }>();

  constructor(label: string, clock: Clock, limits: RetentionLimits) {
    this.label = label;
    this.userUrn = `tml:organization_user:${label}`;
    this.futures = new FutureStore(clock, limits);
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
  replay(key: string): { readonly fingerprint: string; readonly reply: ServerReply } | undefined {
    return this.#replays.get(key);
  }

  remember(key: string, fingerprint: string, reply: ServerReply): void {
    this.#replays.set(key, { fingerprint, reply });
    for (const oldest of this.#replays.keys()) {
      if (this.#replays.size <= MAX_REPLAYS) break;
      this.#replays.delete(oldest);
    }
  }
}
