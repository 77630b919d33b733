import type { Codec, endpoints } from '@tinkex/types/wire';
import type { CallOptions } from '../runtime/call-options.js';
import type { AttemptFailure } from './attempt-failure.js';

/** A name of the endpoint table. */
export type EndpointKey = keyof typeof endpoints;

type Endpoint<Key extends EndpointKey> = (typeof endpoints)[Key];

/** The body of an endpoint's request, in camelCase; `never` when it has none. */
export type EndpointBody<Key extends EndpointKey> = Endpoint<Key> extends { readonly request: Codec<infer T> } ? T : never;

/** The query of an endpoint, in camelCase; `never` when it has none. */
export type EndpointQuery<Key extends EndpointKey> = Endpoint<Key> extends { readonly query: Codec<infer T> } ? T : never;

/** What an endpoint answers: the decoded object, or `undefined` where the body is ignored. */
export type EndpointResponse<Key extends EndpointKey> = Endpoint<Key> extends { readonly response: Codec<infer T> } ? T : undefined;

/** The parts of one request. */
export interface EndpointRequest<Key extends EndpointKey> {
  /** Values for the `{placeholders}` of the path, inserted unescaped: a checkpoint ID keeps its slash. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: EndpointQuery<Key>;
  readonly body?: EndpointBody<Key>;
  /** Sends these bytes instead of `body`. */
  readonly encoded?: { readonly bytes: Uint8Array; readonly contentType: string; readonly compress?: 'zstd' | undefined };
}

/** Options of one call of an endpoint. */
export interface EndpointCallOptions extends CallOptions {
  /**
   * The signal is that of a `CallScope`: it already covers the caller's signal and time limit and the closing of the client, so the call
   * needs no scope. Default false.
   */
  readonly isScoped?: boolean;
  /** The call in events. */
  readonly callId?: number | undefined;
  /** Overrides the table's `outerRetry`. */
  readonly hasOuterRetry?: boolean;
  /** Statuses besides 2xx that are an answer. Only for endpoints whose body is ignored. */
  readonly acceptStatus?: readonly number[];
  /** Overrides the table's `maxRetries`. */
  readonly maxRetries?: number;
  /** Called after each failed attempt that either retry layer will repeat. What it throws ends the call. */
  readonly onRetry?: (failure: AttemptFailure) => void;
}
