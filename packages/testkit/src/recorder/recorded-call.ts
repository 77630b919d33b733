import { REDACTED, redactHeaders, redactText } from '@tinkex/types/wire';
import { scopeOf } from '../requests/scope-of.js';
import type { QueryOf, RequestOf, RouteName, RouteParams } from '../routes/route-types.js';
import type { Notice, Violation } from '../rules/rules.js';

/** One request that the server received. Credentials and signed URLs are hidden. */
export class RecordedCall<Name extends RouteName = RouteName> {
  /** The index of the call, from 0, in order of arrival. */
  readonly index: number;
  /** The endpoint, or undefined when no endpoint has this path and method. */
  readonly route: Name | undefined;
  readonly method: string;
  /** Milliseconds since the epoch. Never decreases from call to call, even if the server's wall clock is set. */
  readonly arrivedAtMs: number;
  readonly requestBytes: number;
  /** The scope of the call; see `server.scope()`. */
  readonly scope: string | undefined;
  /** The values in the path. */
  params: RouteParams = {};
  /** The tenant's label, once the credential was checked. */
  tenant: string | undefined;
  /** The future that the call created or polled. */
  requestId: string | undefined;
  /** The status of the reply; undefined while the call is held. */
  status: number | undefined;
  replyBytes: number | undefined;
  repliedAtMs: number | undefined;
  /** The fault that struck the call, if any: the kind of a socket fault, or `status-…` for a reply made up by chaos. */
  fault: string | undefined;
  /** The rules this call broke. */
  readonly violations: Violation[] = [];
  /** What the server noted about this call, if no earlier call gave it the same reason. */
  readonly notices: Notice[] = [];
  readonly #target: string;
  readonly #headers: Readonly<Record<string, string | undefined>>;
  #request: unknown;
  #query: unknown;

  constructor(init: {
    readonly index: number;
    readonly route: Name | undefined;
    readonly method: string;
    readonly target: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly arrivedAtMs: number;
    readonly requestBytes: number;
  }) {
    this.index = init.index;
    this.route = init.route;
    this.method = init.method;
    this.#target = init.target;
    this.#headers = init.headers;
    this.arrivedAtMs = init.arrivedAtMs;
    this.requestBytes = init.requestBytes;
    this.scope = scopeOf(init.headers);
  }

  /** Path and query as sent, signatures hidden. */
  get path(): string {
    return redactText(this.#target);
  }

  /** Lower-case names; values not on the allow list are hidden. */
  get headers(): Readonly<Record<string, string>> {
    return redactHeaders(this.#headers);
  }

  /** The decoded body, when it was valid. */
  get request(): RequestOf<Name> {
    return withoutCredentials(this.#request) as RequestOf<Name>;
  }

  /** The decoded query, when the route has one and it was valid. */
  get query(): QueryOf<Name> {
    return this.#query as QueryOf<Name>;
  }

  /** Records the decoded body. */
  setRequest(request: unknown): void {
    this.#request = request;
  }

  /** Records the decoded query. */
  setQuery(query: unknown): void {
    this.#query = query;
  }
}

/** A decoded request without the credentials it carries. */
function withoutCredentials(request: unknown): unknown {
  if (typeof request === 'object' && request !== null && 'weightsAccessToken' in request && request.weightsAccessToken !== undefined) {
    return { ...request, weightsAccessToken: REDACTED };
  }
  return request;
}
