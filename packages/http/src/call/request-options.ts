import type { JsonValue, RequestType } from '@tinkex/types';
import type { Query } from '../url/url.js';

/** The facts of a response. */
export interface ResponseFacts {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The server's ID of this HTTP request, if it sends one. */
  readonly requestId?: string | undefined;
}

/** A response that was read to its end and not parsed. */
export interface RawResponse extends ResponseFacts {
  readonly bytes: Uint8Array;
}

/** Options of both `request` and `stream`. */
export interface BaseRequestOptions {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | (string & {});
  /** Below the base URL, such as `/api/v1/healthz`. Parameters are not escaped. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** A JSON value, or bytes together with `contentType`. */
  readonly body?: JsonValue | Uint8Array | object | undefined;
  /** Of the body. Default `application/json`. */
  readonly contentType?: string | undefined;
  /** Default `application/json`. */
  readonly accept?: string | undefined;
  /** The name of the connection pool. Default `default`. */
  readonly pool?: string | undefined;
  /**
   * Sends the request again, once and on a new connection, when the kept connection that it was sent on turns out to be closed: it had
   * answered before, and no byte of this answer came. For a request that the server executes once however often it arrives. Does not count
   * against `maxRetries`. Default false.
   */
  readonly repeatsOnClosedConnection?: boolean | undefined;
  /**
   * Retries the empty 400 of a proxy that refuses a connection like a broken connection. Default false: it is a `ConnectionError`
   * immediately, for an outer layer to retry.
   */
  readonly retriesEdgeRejections?: boolean | undefined;
  /** Attempts after the first. 0 means exactly one request. Default: the client's. */
  readonly maxRetries?: number | undefined;
  /** Limit for one attempt, milliseconds: connection, headers and body together. Default: the client's. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Limit for the whole call with its retries and waits, milliseconds. Default: the client's, which is none. */
  readonly timeoutMs?: number | undefined;
  /** Aborting frees the socket and ends waits. */
  readonly signal?: AbortSignal | undefined;
  /** These win over the client's. Any letter case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** `'follow'` (default) or `'manual'`: a 3xx is then an `ApiStatusError`, or a value for `parse` when `acceptStatus` lists it. */
  readonly redirect?: 'follow' | 'manual' | undefined;
  /** Compresses the body if this runtime can; otherwise sends it as it is. */
  readonly compress?: 'zstd' | undefined;
  /** Names the work in events. Default: method and path. */
  readonly requestType?: RequestType | undefined;
  /** Names the user's call in events. Default: none. */
  readonly callId?: number | undefined;
  /** Called before each wait. What it throws ends the call. */
  readonly onRetry?: ((retry: RetryInfo) => void) | undefined;
  /** Larger responses are rejected, bytes. Default: the client's. */
  readonly maxResponseBytes?: number | undefined;
}

/** One failed attempt that will be followed by another. */
export interface RetryInfo {
  /** The attempt that failed, from 0. */
  readonly attempt: number;
  /** The wait before the next attempt, milliseconds. */
  readonly delayMs: number;
  /** Set when the server answered. */
  readonly status?: number | undefined;
  /** Set when it did not. */
  readonly error?: unknown;
}

/** One call: what to send, how to read the response, and which of the client's rules it changes. */
export interface RequestOptions<T> extends BaseRequestOptions {
  /** Checks and converts the JSON of a success. A codec of `@tinkex/types`, or any object with `decode`. */
  readonly schema?: { decode(value: unknown): T } | undefined;
  /** Makes the value from the raw response; replaces `schema`. */
  readonly parse?: ((response: RawResponse) => T) | undefined;
  /** Statuses besides 2xx that go to `parse` or `schema` instead of being thrown. They are not retried. */
  readonly acceptStatus?: readonly number[] | undefined;
}

/** One call whose body is read piece by piece. */
export type StreamOptions = BaseRequestOptions;

/** A value with the facts of its response. */
export interface HttpResult<T> extends ResponseFacts {
  readonly data: T;
  /** Requests sent, the first included. */
  readonly attempts: number;
  /** Time spent waiting between attempts, milliseconds. */
  readonly retryDelayMs: number;
}

/** A response whose body is still to be read. Read it to its end or `cancel()` it, or its connection stays busy. */
export interface HttpStream extends ResponseFacts {
  readonly attempts: number;
  /** The bytes as they arrive. `attemptTimeoutMs` limits each wait for more; leaving the loop early frees the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  cancel(): void;
}
