import { type FaultKind, type FaultMoment, type FaultPlan, requireFault } from '../faults/faults.js';
import { requireRoute } from '../routes/require-route.js';
import type { QueryOf, RequestOf, ResponseOf, ResultOf, RouteName, RouteParams } from '../routes/route-types.js';
import { callSite } from './call-site.js';

/** The request that a script decides about. */
export interface ScriptedCall<Name extends RouteName = RouteName> {
  readonly route: Name;
  readonly params: RouteParams;
  /** Lower-case names, as sent, credentials hidden. */
  readonly headers: Readonly<Record<string, string>>;
  readonly request: RequestOf<Name>;
  readonly query: QueryOf<Name>;
  readonly tenant: string;
  /** The scope of the call; see `server.scope()`. */
  readonly scope: string | undefined;
  /** The future that the call polls; undefined for other routes. */
  readonly requestId: string | undefined;
  /** How many calls this script has answered before, from 0. */
  readonly occurrence: number;
}

/** A value, or a function that computes it from the request. */
export type Computed<Name extends RouteName, Value> = Value | ((call: ScriptedCall<Name>) => Value | Promise<Value>);

/** Statuses whose scripted body is the route's own answer. */
export type SuccessStatus = 200 | 201 | 202 | 204;

/**
 * The body of a scripted reply that is not a success. Keys not listed here are sent as they are.
 * A string is sent as text: `''` gives the blank 400 of an edge proxy.
 */
export type ErrorBody = string | Uint8Array | ErrorFields;

/** See {@link ErrorBody}. */
export interface ErrorFields {
  /** Default: a text that says that the reply is scripted. */
  readonly detail?: string | undefined;
  /** Sent as the header `retry-after-ms`. */
  readonly retryAfterMs?: number | string | undefined;
  /** Sent as the header `retry-after`: seconds, or a date. */
  readonly retryAfter?: number | string | undefined;
  /** Sent as the header `x-should-retry`. */
  readonly shouldRetry?: boolean | undefined;
  /** Turns the body into a try-again answer with this queue state. */
  readonly queueState?: string | undefined;
  readonly queueStateReason?: string | undefined;
  readonly [field: string]: unknown;
}

/** The body of a scripted success: the route's answer as a domain value, or JSON or bytes for routes without a fixed answer. */
export type SuccessBody<Name extends RouteName> = [ResponseOf<Name>] extends [undefined]
  ? string | Uint8Array | Readonly<Record<string, unknown>>
  : ResponseOf<Name> | Uint8Array;

/** How a future fails. */
export interface ScriptedFailure {
  readonly error: string;
  /** Default `server`. */
  readonly category?: 'user' | 'server' | 'unknown' | undefined;
}

/** What a script does with a call. */
export type ScriptAction =
  | { readonly kind: 'pass'; readonly headers?: Readonly<Record<string, string>> | undefined }
  | { readonly kind: 'reply'; readonly status: number; readonly body: unknown; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'fail'; readonly failure: ScriptedFailure }
  | { readonly kind: 'fault'; readonly plan: FaultPlan; readonly moment: FaultMoment };

/**
 * One instruction for one route: which calls it takes, what it does with them, and how often. The scripts of a route are tried in the
 * order of their creation; the first one that takes the call decides. A request that breaks the protocol is refused before any script
 * sees it.
 */
export class Script<Name extends RouteName = RouteName> {
  readonly route: Name;
  /** @internal The scope whose calls it takes; undefined for all calls. */
  readonly scope: string | undefined;
  /** Where the test created it, as `file:line:column`; undefined if that is not known. */
  createdAt: string | undefined;
  #predicates: ((call: ScriptedCall<Name>) => boolean)[] = [];
  #action: ScriptAction = { kind: 'pass' };
  #limit = Number.POSITIVE_INFINITY;
  #delayMs = 0;
  #used = 0;

  constructor(route: Name, scope?: string) {
    this.route = requireRoute(route);
    this.scope = scope;
    this.createdAt = callSite();
  }

  /** Takes only calls for which `predicate` is true. Several conditions must all hold. */
  when(predicate: (call: ScriptedCall<Name>) => boolean): this {
    this.#predicates.push(predicate);
    return this;
  }

  /** Takes only polls of this future. */
  forRequestId(requestId: string): this {
    return this.when((call) => call.requestId === requestId);
  }

  /** Answers in place of the server. A 2xx body is the route's answer as a domain value; for other statuses see {@link ErrorBody}. */
  reply(status: SuccessStatus, body?: Computed<Name, SuccessBody<Name>>, headers?: Readonly<Record<string, string>>): this;
  reply<Status extends number>(
    status: Status extends SuccessStatus ? never : Status,
    body?: Computed<Name, ErrorBody>,
    headers?: Readonly<Record<string, string>>,
  ): this;
  reply(status: number, body?: unknown, headers: Readonly<Record<string, string>> = {}): this {
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(`Script.reply takes a status from 200 to 599, got ${String(status)}. For a broken connection use fault().`);
    }
    return this.#do({ kind: 'reply', status, body, headers });
  }

  /** Accepts the submission, in order and with a future, and resolves the future to this value without the engine. */
  result(value: Computed<Name, ResultOf<Name>>): this {
    return this.#do({ kind: 'result', value });
  }

  /** Accepts the submission and fails its future. */
  fail(failure: ScriptedFailure): this {
    return this.#do({ kind: 'fail', failure });
  }

  /** Breaks the connection, `before` (default) or `after` the work is done. Throws a `RangeError` for an unknown kind. */
  fault(kind: FaultKind, options: { readonly moment?: FaultMoment | undefined } & Omit<FaultPlan, 'kind'> = {}): this {
    requireFault(kind);
    const { moment = 'before', ...rest } = options;
    return this.#do({ kind: 'fault', plan: { kind, ...rest }, moment });
  }

  /**
   * Lets the call through as if there were no script. Use it to count calls, to skip some between other scripts, or to add headers to the
   * reply, such as `x-deprecation-note`.
   */
  pass(headers?: Readonly<Record<string, string>>): this {
    return this.#do({ kind: 'pass', headers });
  }

  /** Waits on the server's clock before it acts. */
  delay(ms: number): this {
    this.#delayMs = ms;
    return this;
  }

  /** Takes exactly `count` calls; `server.verify()` complains about fewer. Default: every call, at least one. */
  times(count: number): this {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`Script.times takes a whole number >= 1, got ${count}.`);
    this.#limit = count;
    return this;
  }

  /** The same as `times(1)`. */
  once(): this {
    return this.times(1);
  }

  /** How many calls it has taken. */
  get used(): number {
    return this.#used;
  }

  /** @internal Takes the call if it is for this script. */
  take(call: Omit<ScriptedCall<Name>, 'occurrence'>): TakenScript | undefined {
    if (this.#used >= this.#limit || (this.scope !== undefined && this.scope !== call.scope)) return undefined;
    const withCount = { ...call, occurrence: this.#used };
    if (!this.#predicates.every((predicate) => predicate(withCount))) return undefined;
    this.#used += 1;
    return { action: this.#action, delayMs: this.#delayMs, call: withCount };
  }

  /** @internal The complaint for `verify`, if any. */
  complaint(): string | undefined {
    const wanted = Number.isFinite(this.#limit) ? this.#limit : 1;
    if (this.#used >= wanted) return undefined;
    const site = this.createdAt === undefined ? '' : ` (created at ${this.createdAt})`;
    return `the script ${this.#action.kind} on ${this.route} was used ${this.#used} of ${wanted} times${site}`;
  }

  #do(action: ScriptAction): this {
    this.#action = action;
    return this;
  }
}

/** A script that has taken a call. */
export interface TakenScript {
  readonly action: ScriptAction;
  readonly delayMs: number;
  readonly call: ScriptedCall;
}
