import type { QueryOf, RequestOf, RouteName, RouteParams } from '../routes/route-types.js';

/** What a script sees of the request it decides about. */
export interface ScriptedCall<Name extends RouteName = RouteName> {
  readonly route: Name;
  readonly params: RouteParams;
  /** Lower-case names, as sent, credentials hidden. */
  readonly headers: Readonly<Record<string, string>>;
  readonly request: RequestOf<Name>;
  readonly query: QueryOf<Name>;
  readonly tenant: string;
  /** The future the call polls; undefined for other routes. */
  readonly requestId: string | undefined;
  /** How many calls this script has answered before, from 0. */
  readonly occurrence: number;
}

/** A value, or how to compute it from the request. */
export type Computed<Name extends RouteName, Value> = Value | ((call: ScriptedCall<Name>) => Value | Promise<Value>);
