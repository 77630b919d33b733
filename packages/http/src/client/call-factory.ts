import { ConfigurationError } from '@tinkex/types';
import { stringifyJson } from '@tinkex/types/wire';
import type { Clock } from '../clock/clock.js';
import { isDecodable } from '../compression/content-encoding.js';
import type { Call } from '../pipeline/call.js';
import { encodeQuery, type Query } from '../url/encode-query.js';
import { joinUrl } from '../url/join-url.js';
import { DefaultHeaders } from './default-headers.js';
import type { HttpClientOptions } from './http-client-options.js';
import { needsIdempotencyKey, newIdempotencyKey } from './idempotency-key.js';
import type { BaseRequestOptions } from './request-options.js';

const DEFAULT_MAX_RETRIES = 10;
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_RESPONSE_BYTES = 1024 ** 3;

/** Turns the options of a call, over those of the client, into what the pipeline works on. Everything constant is computed once. */
export class CallFactory {
  readonly #baseUrl: string;
  readonly #clock: Clock;
  readonly #query: Query | undefined;
  readonly #defaultQuery: string;
  readonly #maxRetries: number;
  readonly #timeoutMs: number;
  readonly #totalTimeoutMs: number;
  readonly #maxResponseBytes: number;
  readonly #timeoutSeconds: string;
  readonly #defaultHeaders: DefaultHeaders;
  /** The client's own headers, which win over the defaults. */
  readonly #ownHeaders: Readonly<Record<string, string>>;

  constructor(options: HttpClientOptions, baseUrl: string, clock: Clock) {
    this.#baseUrl = baseUrl;
    this.#clock = clock;
    this.#query = options.query;
    this.#defaultQuery = options.query === undefined ? '' : encodeQuery(options.query);
    this.#maxRetries = atLeast(0, options.maxRetries ?? DEFAULT_MAX_RETRIES, 'maxRetries');
    this.#timeoutMs = atLeast(1, options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 'timeoutMs');
    this.#totalTimeoutMs = atLeast(1, options.totalTimeoutMs ?? Number.POSITIVE_INFINITY, 'totalTimeoutMs');
    this.#maxResponseBytes = atLeast(0, options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES, 'maxResponseBytes');
    this.#timeoutSeconds = seconds(this.#timeoutMs);
    this.#defaultHeaders = new DefaultHeaders(options.userAgent, options.sdkVersion);
    const encoding = options.acceptEncoding === undefined ? {} : { 'accept-encoding': decodable(options.acceptEncoding) };
    this.#ownHeaders = { ...encoding, ...lowerCased(options.headers ?? {}) };
  }

  create(options: BaseRequestOptions, isStream: boolean, acceptStatus: readonly number[] | undefined): Call {
    const { method } = options;
    const totalTimeoutMs = options.totalTimeoutMs ?? this.#totalTimeoutMs;
    return {
      method,
      path: withoutQuery(options.path),
      url: this.#url(options.path, options.query),
      pool: options.pool ?? 'default',
      requestType: options.requestType,
      headers: this.#headers(options),
      body: encodeBody(options),
      compress: options.compress,
      maxRetries: options.maxRetries === undefined ? this.#maxRetries : atLeast(0, options.maxRetries, 'maxRetries'),
      timeoutMs: options.timeoutMs === undefined ? this.#timeoutMs : atLeast(1, options.timeoutMs, 'timeoutMs'),
      totalDeadlineAtMs:
        totalTimeoutMs === Number.POSITIVE_INFINITY ? totalTimeoutMs : this.#clock.now() + atLeast(1, totalTimeoutMs, 'totalTimeoutMs'),
      maxResponseBytes:
        options.maxResponseBytes === undefined ? this.#maxResponseBytes : atLeast(0, options.maxResponseBytes, 'maxResponseBytes'),
      signal: options.signal,
      isStream,
      redirect: options.redirect ?? 'follow',
      acceptStatus,
      onRetry: options.onRetry,
      attempt: 0,
      retryDelayMs: 0,
    };
  }

  #url(path: string, query: Query | undefined): string {
    const url = joinUrl(this.#baseUrl, path);
    const encoded = query === undefined ? this.#defaultQuery : encodeQuery({ ...this.#query, ...query });
    if (encoded === '') return url;
    return url + (path.includes('?') ? '&' : '?') + encoded;
  }

  #headers(options: BaseRequestOptions): Record<string, string> {
    const { method, accept, contentType, timeoutMs } = options;
    const timeoutSeconds = timeoutMs === undefined ? this.#timeoutSeconds : seconds(timeoutMs);
    const headers = needsIdempotencyKey(method)
      ? this.#defaultHeaders.forWrite(accept, contentType, newIdempotencyKey(), timeoutSeconds)
      : this.#defaultHeaders.forRead(accept, timeoutSeconds);
    for (const name in this.#ownHeaders) headers[name] = this.#ownHeaders[name] as string;
    if (options.headers !== undefined) setLowerCased(headers, options.headers);
    return headers;
  }
}

/** The path is shown in errors and events, where a query has no place: it may be signed. */
function withoutQuery(path: string): string {
  const query = path.indexOf('?');
  return query === -1 ? path : path.slice(0, query);
}

function encodeBody({ body, contentType }: BaseRequestOptions): string | Uint8Array | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) {
    if (contentType === undefined) throw new ConfigurationError({ message: 'A body of bytes needs a contentType.', option: 'contentType' });
    return body;
  }
  return stringifyJson(body as Parameters<typeof stringifyJson>[0]);
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower: Record<string, string> = {};
  setLowerCased(lower, headers);
  return lower;
}

/** Straight into the target: a copy in between would be made for each call. */
function setLowerCased(target: Record<string, string>, headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) target[name.toLowerCase()] = value;
  }
}

function seconds(milliseconds: number): string {
  return String(milliseconds / 1_000);
}

/** Asked for and then not understood, every packed response would fail. */
function decodable(acceptEncoding: string): string {
  for (const part of acceptEncoding.split(',')) {
    const encoding = part.replace(/;.*/, '').trim().toLowerCase();
    if (isDecodable(encoding)) continue;
    const message = `acceptEncoding names ${JSON.stringify(encoding)}, which cannot be unpacked; name gzip, deflate, br or identity.`;
    throw new ConfigurationError({ message, option: 'acceptEncoding' });
  }
  return acceptEncoding;
}

function atLeast(minimum: number, value: number, option: string): number {
  if (value >= minimum) return value;
  throw new ConfigurationError({ message: `${option} must be a number of at least ${minimum}, not ${value}.`, option });
}
