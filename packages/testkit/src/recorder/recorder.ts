import type { Clock } from '@tinkex/http';
import { elapsedMs, type MonotonicTime } from '@tinkex/http/clock';
import type { ServerReply, ServerRequest } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';
import { type Notice, type RuleId, type Violation, violationOf } from '../rules/rules.js';
import { RecordedCall } from './recorded-call.js';

/** Which calls to count. Every given field must match. */
export interface CallFilter {
  readonly tenant?: string | undefined;
  readonly requestId?: string | undefined;
  readonly status?: number | undefined;
  /** See `server.scope()`. */
  readonly scope?: string | undefined;
}

interface Concurrency {
  now: number;
  max: number;
}

interface CallWaiter {
  readonly route: RouteName;
  readonly count: number;
  readonly resolve: () => void;
}

const MAX_VIOLATIONS = 20_000;
const MAX_NOTICES = 1_000;

/** The ordered log of calls. Keeps the newest `limit` calls; totals stay exact. */
export class Recorder {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #ignored: ReadonlySet<RuleId>;
  readonly #totals = new Map<RouteName | undefined, number>();
  readonly #concurrency = new Map<RouteName | undefined, Concurrency>();
  readonly #waiters = new Set<CallWaiter>();
  readonly #overall: Concurrency = { now: 0, max: 0 };
  readonly violations: Violation[] = [];
  readonly notices: Notice[] = [];
  readonly #onCall: ((call: RecordedCall) => void) | undefined;
  #calls: RecordedCall[] = [];
  #nextIndex = 0;
  readonly #startedAt: MonotonicTime;
  readonly #startedWallMs: number;

  constructor(options: {
    readonly clock: Clock;
    readonly limit: number;
    readonly ignoredRules: readonly RuleId[];
    readonly onCall?: ((call: RecordedCall) => void) | undefined;
  }) {
    this.#onCall = options.onCall;
    this.#clock = options.clock;
    this.#startedAt = options.clock.monotonicMs();
    this.#startedWallMs = options.clock.wallMs();
    this.#limit = options.limit;
    this.#ignored = new Set(options.ignoredRules);
  }

  /** The newest calls, oldest first. */
  get calls(): readonly RecordedCall[] {
    return this.#calls.length > this.#limit ? this.#newest() : this.#calls;
  }

  begin(request: ServerRequest, route: RouteName | undefined): RecordedCall {
    const call = new RecordedCall({
      index: this.#nextIndex++,
      route,
      method: request.method,
      target: request.target,
      headers: request.headers,
      arrivedAtMs: this.#timeMs(),
      requestBytes: request.body.length,
    });
    this.#calls.push(call);
    if (this.#calls.length > 2 * this.#limit) this.#calls = this.#newest();
    const total = (this.#totals.get(route) ?? 0) + 1;
    this.#totals.set(route, total);
    enter(this.#overall);
    let concurrency = this.#concurrency.get(route);
    if (concurrency === undefined) {
      concurrency = { now: 0, max: 0 };
      this.#concurrency.set(route, concurrency);
    }
    enter(concurrency);
    this.#wake(route, total);
    return call;
  }

  end(call: RecordedCall, reply: ServerReply): void {
    call.status = reply.status;
    call.replyBytes = typeof reply.body === 'string' ? Buffer.byteLength(reply.body) : reply.body.length;
    call.repliedAtMs = this.#timeMs();
    this.#overall.now -= 1;
    const concurrency = this.#concurrency.get(call.route);
    if (concurrency !== undefined) concurrency.now -= 1;
    this.#onCall?.(call);
  }

  violate(call: RecordedCall, rule: RuleId, detail: string): void {
    if (this.#ignored.has(rule)) return;
    const found = violationOf(rule, detail, call.index);
    call.violations.push(found);
    this.violations.push(found);
    if (this.violations.length > MAX_VIOLATIONS) this.violations.shift();
  }

  /** Records something that is not a violation. A client repeats itself, so each notice is recorded once. */
  notice(call: RecordedCall, detail: string): void {
    if (this.notices.length >= MAX_NOTICES || this.notices.some((earlier) => earlier.detail === detail)) return;
    const notice = { detail, callIndex: call.index };
    call.notices.push(notice);
    this.notices.push(notice);
  }

  /** Exact without a filter; with one, among the calls still kept. */
  count(route: RouteName, filter?: CallFilter): number {
    if (filter === undefined) return this.#totals.get(route) ?? 0;
    let count = 0;
    for (const call of this.calls) {
      if (call.route === route && matches(call, filter)) count += 1;
    }
    return count;
  }

  inFlight(route?: RouteName): number {
    return route === undefined ? this.#overall.now : (this.#concurrency.get(route)?.now ?? 0);
  }

  maxConcurrency(route?: RouteName): number {
    return route === undefined ? this.#overall.max : (this.#concurrency.get(route)?.max ?? 0);
  }

  async waitForCalls(route: RouteName, count: number): Promise<void> {
    if (this.count(route) >= count) return;
    await new Promise<void>((resolve) => {
      this.#waiters.add({ route, count, resolve });
    });
  }

  /** Forgets calls, totals, violations and notices, not what is in flight. */
  clear(): void {
    this.#calls = [];
    this.#totals.clear();
    this.violations.length = 0;
    this.notices.length = 0;
    for (const concurrency of [this.#overall, ...this.#concurrency.values()]) concurrency.max = concurrency.now;
  }

  /** Forgets the calls of a scope and their violations. Totals stay. */
  clearScope(scope: string): void {
    const forgotten = new Set(this.#calls.filter((call) => call.scope === scope).flatMap(({ violations }) => violations));
    const kept = this.violations.filter((violation) => !forgotten.has(violation));
    this.violations.length = 0;
    this.violations.push(...kept);
    this.#calls = this.#calls.filter((call) => call.scope !== scope);
  }

  /** Not `slice(-limit)`, which keeps everything when the limit is 0. */
  #newest(): RecordedCall[] {
    return this.#calls.slice(this.#calls.length - this.#limit);
  }

  #wake(route: RouteName | undefined, total: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.route === route && total >= waiter.count) {
        this.#waiters.delete(waiter);
        waiter.resolve();
      }
    }
  }

  /** A date that never decreases: the recorder's start by the wall clock, and what passed since by the monotonic one. */
  #timeMs(): number {
    return this.#startedWallMs + elapsedMs(this.#clock, this.#startedAt);
  }
}

function enter(concurrency: Concurrency): void {
  concurrency.now += 1;
  concurrency.max = Math.max(concurrency.max, concurrency.now);
}

function matches(call: RecordedCall, filter: CallFilter): boolean {
  return (
    (filter.tenant === undefined || call.tenant === filter.tenant) &&
    (filter.scope === undefined || call.scope === filter.scope) &&
    (filter.requestId === undefined || call.requestId === filter.requestId) &&
    (filter.status === undefined || call.status === filter.status)
  );
}
