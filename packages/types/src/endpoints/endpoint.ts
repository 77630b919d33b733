import type { RequestType } from '../events/payloads.js';
import type { AnyCodec } from '../wire/codec.js';

/** The HTTP methods of the API. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Groups of connections, so that work of one kind never waits behind another. `default`: no group of its own. */
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

/** What is to be known about an endpoint. */
export interface Endpoint {
  readonly method: HttpMethod;
  /** Below the base URL, with `{name}` for what goes into it. Path values are put in unescaped. */
  readonly path: string;
  readonly pool: EndpointPool;
  /** Retries inside one HTTP call. `default`: 10, or what the client is configured to. */
  readonly maxRetries: number | 'default';
  /** Whether the outer retry layer (five minutes by default) wraps the call. */
  readonly outerRetry: boolean;
  /** Limit of one HTTP attempt. `default`: 60,000, or what the client is configured to. */
  readonly timeoutMs: number | 'default';
  /** Of the body. */
  readonly request?: AnyCodec | undefined;
  readonly query?: AnyCodec | undefined;
  /** Of the answer. Absent when the answer's body is ignored, or of several kinds. */
  readonly response?: AnyCodec | undefined;
  /** Of the promise's result, when the answer is a promise. */
  readonly result?: AnyCodec | undefined;
  /** The operation's name when its promise is polled. */
  readonly requestType?: RequestType | undefined;
}
