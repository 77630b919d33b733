import { ConfigurationError } from '@tinkex/types';
import { redactText, rememberHeaders, rememberSecret, stringifyJson } from '@tinkex/types/wire';
import type { Clock } from '../clock/clock.js';
import { type MonotonicTime, NEVER, timeAfter } from '../clock/monotonic-time.js';
import type { TransportBody } from '../transport/transport.js';
import { encodeQuery, joinUrl, type Query } from '../url/url.js';
import type { HttpClientOptions } from './http-client-options.js';
import { RequestHeaders } from './request-headers.js';
import type { BaseRequestOptions, RetryInfo } from './request-options.js';

const DEFAULT_MAX_RETRIES = 10;
const DEFAULT_ATTEMPT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_RESPONSE_BYTES = 1024 ** 3;

/** One call on its way through the pipeline, which changes it in place. */
export interface Call {
  readonly method: string;
  /** Below the base URL, without the query, which may be signed: errors and events show the path. */
  readonly path: string;
  readonly url: string;
  readonly pool: string;
  /** The name of the work in events; see `requestTypeOf`. */
  readonly requestType: string | undefined;
  /** The user's call that events name. */
  readonly callId: number | undefined;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  readonly compress: 'zstd' | undefined;
  readonly maxRetries: number;
  /** Limit for one attempt, milliseconds. */
  readonly attemptTimeoutMs: number;
  /** When the whole call must be over; `NEVER` without a limit. */
  readonly deadline: MonotonicTime;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly isStream: boolean;
  readonly redirect: 'follow' | 'manual';
  /** Statuses besides 2xx that are answers, not failures. */
  readonly acceptStatus: readonly number[] | undefined;
  readonly repeatsOnClosedConnection: boolean;
  readonly retriesEdgeRejections: boolean;
  readonly onRetry: ((retry: RetryInfo) => void) | undefined;
  /** Whether the next attempt opens a new connection. */
  isAlone: boolean;
  /** The current attempt, from 0. */
  attempt: number;
  /** Time spent waiting between attempts, milliseconds. */
  retryDelayMs: number;
}

/** A response that was read to its end, or whose body is still to be read when the call is a stream and succeeded. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly stream?: TransportBody;
}

/** Turns the options of a call, over those of the client, into a `Call`. Everything constant is computed once. */
export class CallFactory {
  readonly #baseUrl: string;
  readonly #clock: Clock;
  readonly #query: Query | undefined;
  readonly #encodedQuery: string;
  readonly #maxRetries: number;
  readonly #attemptTimeoutMs: number;
  readonly #timeoutMs: number;
  readonly #maxResponseBytes: number;
  readonly #headers: RequestHeaders;

  constructor(options: HttpClientOptions, baseUrl: string, clock: Clock) {
    this.#baseUrl = baseUrl;
    this.#clock = clock;
    this.#query = options.query;
    this.#encodedQuery = encodeQuery(options.query ?? {});
    this.#maxRetries = atLeast(0, options.maxRetries, 'maxRetries') ?? DEFAULT_MAX_RETRIES;
    this.#attemptTimeoutMs = atLeast(1, options.attemptTimeoutMs, 'attemptTimeoutMs') ?? DEFAULT_ATTEMPT_TIMEOUT_MS;
    this.#timeoutMs = atLeast(1, options.timeoutMs, 'timeoutMs') ?? Number.POSITIVE_INFINITY;
    this.#maxResponseBytes = atLeast(0, options.maxResponseBytes, 'maxResponseBytes') ?? DEFAULT_MAX_RESPONSE_BYTES;
    this.#headers = new RequestHeaders(options, this.#attemptTimeoutMs);
    rememberHeaders(options.headers ?? {}, true);
    this.#rememberQuery(options.query);
  }

  create(options: BaseRequestOptions, isStream: boolean, acceptStatus: readonly number[] | undefined): Call {
    const { method, path } = options;
    if (options.headers !== undefined) rememberHeaders(options.headers, false);
    const timeoutMs = atLeast(1, options.timeoutMs, 'timeoutMs') ?? this.#timeoutMs;
    return {
      method,
      path: path.includes('?') ? path.slice(0, path.indexOf('?')) : path,
      url: this.#url(path, options.query),
      pool: options.pool ?? 'default',
      requestType: options.requestType,
      callId: options.callId,
      headers: this.#headers.create(options),
      body: encodeBody(options),
      compress: options.compress,
      maxRetries: atLeast(0, options.maxRetries, 'maxRetries') ?? this.#maxRetries,
      attemptTimeoutMs: atLeast(1, options.attemptTimeoutMs, 'attemptTimeoutMs') ?? this.#attemptTimeoutMs,
      deadline: timeoutMs === Number.POSITIVE_INFINITY ? NEVER : timeAfter(this.#clock, timeoutMs),
      maxResponseBytes: atLeast(0, options.maxResponseBytes, 'maxResponseBytes') ?? this.#maxResponseBytes,
      signal: options.signal,
      isStream,
      redirect: options.redirect ?? 'follow',
      acceptStatus,
      repeatsOnClosedConnection: options.repeatsOnClosedConnection ?? false,
      retriesEdgeRejections: options.retriesEdgeRejections ?? false,
      onRetry: options.onRetry,
      isAlone: false,
      attempt: 0,
      retryDelayMs: 0,
    };
  }

  #rememberQuery(query: Query = {}): void {
    for (const [name, value] of new URLSearchParams(encodeQuery(query))) rememberSecret(name, value);
  }

  #url(path: string, query: Query | undefined): string {
    const url = joinUrl(this.#baseUrl, path);
    const encoded = query === undefined ? this.#encodedQuery : encodeQuery({ ...this.#query, ...query });
    if (encoded === '') return url;
    return url + (path.includes('?') ? '&' : '?') + encoded;
  }
}

/** The name of the work in events: the caller's, else method and path. */
export function requestTypeOf({ requestType, method, path }: Call): string {
  return requestType ?? `${method} ${path}`;
}

/** True for 2xx and for the statuses that the call accepts. */
export function isAnswer(call: Call, status: number): boolean {
  return isSuccess(status) || (call.acceptStatus?.includes(status) ?? false);
}

/** True for 2xx. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The server's ID of one HTTP request, if it sends one. */
export function requestIdOf(headers: Readonly<Record<string, string>>): string | undefined {
  const id = headers['x-request-id'] ?? headers['request-id'];
  // A server may echo what it was sent.
  return id === undefined ? undefined : redactText(id);
}

function encodeBody({ body, contentType }: BaseRequestOptions): string | Uint8Array | undefined {
  if (body === undefined) return undefined;
  if (!(body instanceof Uint8Array)) return stringifyJson(body as Parameters<typeof stringifyJson>[0]);
  if (contentType !== undefined) return body;
  throw new ConfigurationError({ message: 'A body of bytes needs a contentType.', option: 'contentType' });
}

function atLeast(minimum: number, value: number | undefined, option: string): number | undefined {
  if (value === undefined || value >= minimum) return value;
  throw new ConfigurationError({ message: `${option} must be a number of at least ${minimum}, not ${value}.`, option });
}
