import type { Codec, endpoints } from '@tinkex/types/wire';

type Endpoints = typeof endpoints;

/** The name of an endpoint, as in the `endpoints` table of `@tinkex/types/wire`. */
export type RouteName = keyof Endpoints;

/** The value of one codec of a route; for several routes, the union. */
type Part<Name extends RouteName, Key extends string> = Name extends RouteName
  ? Endpoints[Name] extends { readonly [K in Key]: Codec<infer Value> }
    ? Value
    : undefined
  : never;

/** The decoded body of a request to the route, or undefined when it has none. */
export type RequestOf<Name extends RouteName> = Part<Name, 'request'>;

/** The decoded query of a request to the route, or undefined when it has none. */
export type QueryOf<Name extends RouteName> = Part<Name, 'query'>;

/** The route's direct answer; for operations the future (`{ requestId }`). */
export type ResponseOf<Name extends RouteName> = Part<Name, 'response'>;

/** What the route's future resolves to, or undefined when the route answers directly. */
export type ResultOf<Name extends RouteName> = Part<Name, 'result'>;

/** The values in the route's path, by their names in the template, e.g. `{ training_run_id: '…' }`. */
export type RouteParams = Readonly<Record<string, string>>;
