import type { Codec, endpoints } from '@tinkex/types/wire';

/** A name of the endpoint table. */
export type EndpointKey = keyof typeof endpoints;

type Endpoint<Key extends EndpointKey> = (typeof endpoints)[Key];

/** The body an endpoint takes, in camelCase; `never` when it takes none. */
export type EndpointBody<Key extends EndpointKey> = Endpoint<Key> extends { readonly request: Codec<infer T> } ? T : never;

/** The query an endpoint takes, in camelCase; `never` when it takes none. */
export type EndpointQuery<Key extends EndpointKey> = Endpoint<Key> extends { readonly query: Codec<infer T> } ? T : never;

/** What an endpoint answers: the decoded object, or `undefined` where the body means nothing. */
export type EndpointResponse<Key extends EndpointKey> = Endpoint<Key> extends { readonly response: Codec<infer T> } ? T : undefined;

/** The parts of one request. */
export interface EndpointCall<Key extends EndpointKey> {
  /** Values for the `{placeholders}` of the path, put in unescaped: a checkpoint id keeps its slash. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: EndpointQuery<Key>;
  readonly body?: EndpointBody<Key>;
  /** Sends these bytes in place of `body`. */
  readonly encoded?: { readonly bytes: Uint8Array; readonly contentType: string; readonly compress?: 'zstd' };
}
