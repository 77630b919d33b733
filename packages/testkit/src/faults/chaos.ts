import type { RequestContext } from '../requests/request-context.js';
import { requireRoute } from '../routes/require-route.js';
import type { RouteName } from '../routes/route-types.js';
import { type ChaosKind, type FaultMoment, requireChaosKind } from './faults.js';

/** Options of `server.chaos()`. */
export interface ChaosOptions {
  readonly seed: number;
  /** The share of calls that get a fault, 0 to 1. Default 0.1. */
  readonly rate?: number | undefined;
  /** The faults to choose from, or a function that returns them for a route. Default {@link DEFAULT_CHAOS_KINDS}, which every retrying client survives. */
  readonly kinds?: readonly ChaosKind[] | ((route: RouteName) => readonly ChaosKind[]) | undefined;
  /** The routes that get faults. Default: all. */
  readonly routes?: readonly RouteName[] | undefined;
  /** The most faults for one operation, or for the polls of one future, so that bounded retries succeed. Default 2. */
  readonly maxFaultsPerOperation?: number | undefined;
  /** The longest random delay of a call, in milliseconds on the server's clock. Default 0. */
  readonly maxDelayMs?: number | undefined;
}

/** Faults that the protocol asks clients to retry, on every route. */
export const DEFAULT_CHAOS_KINDS: readonly ChaosKind[] = [
  'close',
  'reset',
  'reset-headers',
  'reset-body',
  'truncate',
  'status-408',
  'status-429',
  'status-500',
  'status-503',
];

/** What chaos decided about one call. */
export interface ChaosDecision {
  readonly kind: ChaosKind | undefined;
  readonly moment: FaultMoment;
  readonly delayMs: number;
}

/**
 * A seeded plan of random faults. A decision depends on the seed, the route, the operation and the number of earlier tries, never on
 * what else happens at the same time: concurrency changes nothing. `status-409` is a pair: the reply to one try is lost after the work was
 * done, and the next try is answered with 409.
 */
export class Chaos {
  readonly #options: { readonly [Name in Exclude<keyof ChaosOptions, 'routes'>]-?: NonNullable<ChaosOptions[Name]> } & {
    readonly routes: ReadonlySet<RouteName> | undefined;
  };
  readonly #tries = new Map<string, { tries: number; faults: number; isConflictDue: boolean }>();
  #faults = 0;
  #isActive = true;

  constructor(options: ChaosOptions) {
    const { seed, rate = 0.1, kinds = DEFAULT_CHAOS_KINDS, routes, maxFaultsPerOperation = 2, maxDelayMs = 0 } = options;
    if (!(rate >= 0 && rate <= 1)) throw new RangeError(`The chaos rate must be between 0 and 1, got ${rate}.`);
    if (typeof kinds !== 'function' && kinds.length === 0) throw new RangeError('Chaos needs at least one kind of fault.');
    for (const kind of typeof kinds === 'function' ? [] : kinds) requireChaosKind(kind);
    for (const route of routes ?? []) requireRoute(route);
    this.#options = { seed, rate, kinds, maxFaultsPerOperation, maxDelayMs, routes: routes === undefined ? undefined : new Set(routes) };
  }

  /** How many faults have struck so far. */
  get faults(): number {
    return this.#faults;
  }

  /** Ends the chaos: later calls get no faults. */
  stop(): void {
    this.#isActive = false;
  }

  /** @internal Decides about one call. */
  decide(context: RequestContext): ChaosDecision {
    const { route } = context;
    const { seed, rate, kinds, routes, maxFaultsPerOperation, maxDelayMs } = this.#options;
    if (!this.#isActive || (routes !== undefined && !routes.has(route))) return { kind: undefined, moment: 'before', delayMs: 0 };
    const key = `${route} ${operationIdentity(context)}`;
    const record = this.#tries.get(key) ?? { tries: 0, faults: 0, isConflictDue: false };
    this.#tries.set(key, record);
    const question = `${key} ${record.tries}`;
    record.tries += 1;
    const delayMs = maxDelayMs === 0 ? 0 : seededFraction(seed, `delay ${question}`) * maxDelayMs;
    if (record.isConflictDue) {
      record.isConflictDue = false;
      return { kind: 'status-409', moment: 'before', delayMs };
    }
    const possible = typeof kinds === 'function' ? kinds(route) : kinds;
    if (possible.length === 0 || record.faults >= maxFaultsPerOperation || seededFraction(seed, `hit ${question}`) >= rate) {
      return { kind: undefined, moment: 'before', delayMs };
    }
    record.faults += 1;
    this.#faults += 1;
    const kind = possible[Math.floor(seededFraction(seed, `kind ${question}`) * possible.length)];
    if (kind === 'status-409') {
      record.isConflictDue = true;
      return { kind: 'close', moment: 'after', delayMs };
    }
    const moment: FaultMoment = seededFraction(seed, `moment ${question}`) < 0.5 ? 'before' : 'after';
    return { kind, moment, delayMs };
  }
}

/** Fields that identify an operation, in order of precedence. */
const ID_FIELDS = ['requestId', 'samplingSessionId', 'modelId', 'sessionId'] as const;
const SEQUENCE_FIELDS = ['seqId', 'modelSeqId', 'samplingSessionSeqId'] as const;

/** Equal for two requests that try the same operation. */
function operationIdentity(context: RequestContext): string {
  const request = (context.request ?? {}) as Readonly<Record<string, unknown>>;
  const id = ID_FIELDS.map((field) => request[field]).find((value) => value !== undefined);
  if (id === undefined) return `${context.raw.target} ${context.fingerprint}`;
  const seqId = SEQUENCE_FIELDS.map((field) => request[field]).find((value) => value !== undefined);
  return `${String(id)} ${String(seqId ?? '')}`;
}

/** A pseudo-random number in [0, 1) that depends only on the seed and the text. */
function seededFraction(seed: number, text: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0;
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}
