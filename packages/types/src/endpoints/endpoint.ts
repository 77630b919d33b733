import type { RequestType } from '../events/payloads.js';
import type { AnyCodec } from '../wire/codec.js';

/** The HTTP methods of the API. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Groups of connections, so that one kind of work never waits for another. `default`: no separate group. */
export type EndpointPool =
  | 'session'
  | 'sample'
  | 'train'
  | 'rest_support_redirect'
  | 'retrieve_promise'
  | 'retrieve_futures'
  | 'telemetry'
  | 'one-off'
  | 'auth'
  | 'default';

/** What a client needs to know about an endpoint. */
export interface Endpoint {
  readonly method: HttpMethod;
  /** Relative to the base URL, with `{name}` for each path value. Path values are inserted unescaped. */
  readonly path: string;
  readonly pool: EndpointPool;
  /** Retries inside one HTTP call. `default`: 10, or the client's setting. */
  readonly maxRetries: number | 'default';
  /** Whether the outer retry layer (five minutes by default) wraps the call. */
  readonly outerRetry: boolean;
  /** Limit of one HTTP attempt. `default`: 60,000, or what the client is configured to. */
  readonly timeoutMs: number | 'default';
  /** The largest answer that makes sense, bytes. `default`: the limit of the HTTP client. */
  readonly maxResponseBytes: number | 'default';
  /** Of the body. */
  readonly request?: AnyCodec | undefined;
  readonly query?: AnyCodec | undefined;
  /** Of the answer. Absent when the answer's body is ignored, or of several kinds. */
  readonly response?: AnyCodec | undefined;
  /** Of the result, when the answer is a future. */
  readonly result?: AnyCodec | undefined;
  /** The name of the operation when its future is polled. */
  readonly requestType?: RequestType | undefined;
}
