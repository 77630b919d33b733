import type { JsonValue, RequestType } from '@tinkex/types';
import type { RetryInfo } from '../retry/retry-stage.js';
import type { Query } from '../url/encode-query.js';

/** A response that was read to its end, before anything was made of it. */
export interface RawResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** The server's name for this HTTP request, when it gives one. */
  readonly requestId?: string;
}

/** What is the same for `request` and `stream`. An option that is `undefined` is one that is not given. */
export interface BaseRequestOptions {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | (string & {});
  /** Below the base URL, such as `/api/v1/healthz`. Parameters are put in as they are. */
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
  /** Attempts after the first. 0 means exactly one request. Default: the client's. */
  readonly maxRetries?: number | undefined;
  /** Limit of one attempt, milliseconds: connection, headers and body together. Default: the client's. */
  readonly timeoutMs?: number | undefined;
  /** Limit of the whole call with its retries and waits, milliseconds. Default: the client's, which is none. */
  readonly totalTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Win over the client's. Any letter case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** `'follow'` (default) or `'manual'`: a 3xx is then an `ApiStatusError`, or a value for `parse` when `acceptStatus` lists it. */
  readonly redirect?: 'follow' | 'manual' | undefined;
  /** Sends the body compressed, where this runtime can; as it is, where it cannot. */
  readonly compress?: 'zstd' | undefined;
  /** Names the work in events. Default: method and path. */
  readonly requestType?: RequestType | undefined;
  /** Told before each wait. What it throws ends the call. */
  readonly onRetry?: ((retry: RetryInfo) => void) | undefined;
  /** Larger responses are refused, bytes. Default: the client's. */
  readonly maxResponseBytes?: number | undefined;
}

/** One call: what to send, how to read the answer, and which of the client's rules it changes. */
export interface RequestOptions<T> extends BaseRequestOptions {
  /** Checks and converts the JSON of a success. A codec of `@tinkex/types`, or any object with `decode`. */
  readonly schema?: { decode(value: unknown): T } | undefined;
  /** Makes the value from the raw response instead; takes the place of `schema`. */
  readonly parse?: ((response: RawResponse) => T) | undefined;
  /** Statuses besides 2xx that go to `parse` or `schema` instead of being thrown. They are not retried. */
  readonly acceptStatus?: readonly number[] | undefined;
}

/** One call whose body is read piece by piece. */
export type StreamOptions = BaseRequestOptions;

/** A value with what is known about its response. */
export interface HttpResult<T> {
  readonly data: T;
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId?: string;
  /** Requests made, the first included. */
  readonly attempts: number;
  /** Time spent waiting between attempts, milliseconds. */
  readonly retryDelayMs: number;
}

/** A response whose body is still to be read. Read it to its end or `cancel()` it, else its connection stays busy. */
export interface HttpStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId?: string;
  readonly attempts: number;
  /** The bytes as they come. Each wait for more is under `timeoutMs`; leaving the loop early frees the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  cancel(): void;
}
