import { betweenMs, type MonotonicTime } from '@tinkex/http';
import type { RouteTotal } from '../api/activity-views.js';
import type { NowReading, NowTotals, PendingCall } from '../api/run-views.js';

/** A call that the server has, and what it said about it. */
interface Waiting {
  readonly type: string;
  readonly sinceMs: number;
  state?: string | undefined;
  reason?: string | undefined;
  /** When the server said that it began, after a pause. */
  runningMs?: number | undefined;
}

/** A moment of the counters, to compute rates from. */
interface Moment {
  readonly at: MonotonicTime;
  readonly tokens: number;
  readonly samples: number;
  readonly steps: number;
}

const MAX_WAITING = 1_000;
const MAX_SHOWN = 20;
const MAX_ROUTES = 100;
/** Rates are over this many readings. */
const MOMENTS = 10;

type Total = keyof NowTotals;

/** What a program is doing: counters and the calls in flight, in constant memory. Handlers of events call it; it reads no clock. */
export class Activity {
  readonly totals: { -readonly [Name in Total]: number } = {
    requests: 0,
    sentBytes: 0,
    receivedBytes: 0,
    retries: 0,
    failures: 0,
    samples: 0,
    promptTokens: 0,
    sampledTokens: 0,
    trainedTokens: 0,
    rateLimits: 0,
    missedHeartbeats: 0,
  };
  readonly #routes = new Map<string, { -readonly [Name in keyof RouteTotal]: RouteTotal[Name] }>();
  readonly #inFlight = new Map<string, number>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #moments: Moment[] = [];
  #steps = 0;
  #rateLimitedUntilMs: number | undefined;

  /** An HTTP attempt ended. */
  attempt(type: string, isFailure: boolean, sentBytes: number, receivedBytes: number, durationMs: number): void {
    const { totals } = this;
    totals.requests += 1;
    totals.sentBytes += sentBytes;
    totals.receivedBytes += receivedBytes;
    let route = this.#routes.get(type);
    if (route === undefined) {
      if (this.#routes.size >= MAX_ROUTES) return;
      route = { type, requests: 0, failures: 0, sentBytes: 0, receivedBytes: 0, totalMs: 0 };
      this.#routes.set(type, route);
    }
    route.requests += 1;
    route.failures += isFailure ? 1 : 0;
    route.sentBytes += sentBytes;
    route.receivedBytes += receivedBytes;
    route.totalMs += durationMs;
  }

  /** The server accepted an operation. */
  accepted(type: string): void {
    this.#inFlight.set(type, (this.#inFlight.get(type) ?? 0) + 1);
  }

  /** An operation came back, with a result or an error. */
  settled(type: string, requestId: string | undefined): void {
    // Without a request ID the operation was never accepted.
    if (requestId === undefined) return;
    this.#waiting.delete(requestId);
    const count = this.#inFlight.get(type) ?? 0;
    if (count > 0) this.#inFlight.set(type, count - 1);
  }

  /** An operation is known to wait on the server. */
  waits(type: string, requestId: string, atMs: number, state?: string, reason?: string): void {
    const known = this.#waiting.get(requestId);
    if (known !== undefined) {
      if (state === undefined) return;
      if (state === 'active') known.runningMs = atMs;
      known.state = state;
      known.reason = reason;
      return;
    }
    if (this.#waiting.size < MAX_WAITING) this.#waiting.set(requestId, { type, sinceMs: atMs, state, reason });
  }

  /** When the server accepted the operation and when it began; what was not seen is undefined. */
  phasesOf(requestId: string | undefined): { readonly submittedMs?: number | undefined; readonly runningMs?: number | undefined } {
    const waiting = requestId === undefined ? undefined : this.#waiting.get(requestId);
    return { submittedMs: waiting?.sinceMs, runningMs: waiting?.runningMs };
  }

  rateLimited(untilMs: number | undefined): void {
    if (untilMs !== undefined) this.totals.rateLimits += 1;
    this.#rateLimitedUntilMs = untilMs;
  }

  step(): void {
    this.#steps += 1;
  }

  get routes(): RouteTotal[] {
    return [...this.#routes.values()].map((route) => ({ ...route }));
  }

  /** The state at this moment. Rates are over the time between the last readings. */
  read(atMs: number, at: MonotonicTime): NowReading {
    const { totals } = this;
    const moment = { at, tokens: totals.sampledTokens + totals.trainedTokens, samples: totals.samples, steps: this.#steps };
    const [first = moment] = this.#moments;
    this.#moments.push(moment);
    if (this.#moments.length > MOMENTS) this.#moments.shift();
    const seconds = betweenMs(first.at, at) / 1_000;
    const rate = (now: number, then: number): number => (seconds > 0 ? (now - then) / seconds : 0);
    const paused = [...this.#waiting.values()].find(({ state }) => state !== undefined && state !== 'active');
    return {
      atMs,
      inFlight: Object.fromEntries([...this.#inFlight].filter(([, count]) => count > 0)),
      pending: this.#pending(),
      queueState: paused?.state ?? (this.#waiting.size > 0 ? 'active' : undefined),
      queueReason: paused?.reason,
      rateLimitedUntilMs: this.#rateLimitedUntilMs,
      tokensPerSecond: rate(moment.tokens, first.tokens),
      samplesPerSecond: rate(moment.samples, first.samples),
      stepsPerSecond: rate(moment.steps, first.steps),
      totals: { ...totals },
    };
  }

  #pending(): PendingCall[] {
    const shown: PendingCall[] = [];
    for (const [requestId, { type, sinceMs, state, reason }] of this.#waiting) {
      if (shown.length >= MAX_SHOWN) break;
      shown.push({ type, requestId, sinceMs, waitsFor: waitsFor(state, reason) });
    }
    return shown;
  }
}

const STATES: Readonly<Record<string, string>> = {
  paused_capacity: 'capacity of the service',
  paused_rate_limit: 'the rate limit of the service',
};

function waitsFor(state: string | undefined, reason: string | undefined): string {
  const what = STATES[state ?? ''] ?? 'its result';
  return reason === undefined ? what : `${what}: ${reason}`;
}
