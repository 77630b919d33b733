import { type Clock, type HttpClient, outerStrategy, type Query, type RetryInfo, retry } from '@tinkex/http';
import { ValidationError } from '@tinkex/types';
import { type Codec, endpoints } from '@tinkex/types/wire';
import type { BillingPause } from '../limits/billing-pause.js';
import type { EndpointCallOptions } from '../service/connection.js';
import { CallScope } from '../runtime/call-scope.js';
import type { EndpointCall, EndpointKey, EndpointResponse } from './endpoint-types.js';
import type { Lifetime } from '../runtime/client-lifetime.js';

/** What calls of one connection share. */
export interface EndpointCallerParts {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly lifetime: Lifetime;
  readonly billingPause: BillingPause;
  /** For how long the outer layer goes on, milliseconds. */
  readonly maxRetryMs: number;
  /** Told of each round of the outer layer that failed, but for those that an unpaid account or the caller ended. */
  readonly onFailedRound?: (failure: FailedRound) => void;
  /** Told of each HTTP attempt that failed and will be repeated. */
  readonly onHttpRetry?: (retry: RetryInfo) => void;
}

/** A round of the outer retry layer that failed. Times are milliseconds on the clock. */
export interface FailedRound {
  readonly operation: string;
  readonly error: unknown;
  /** Whether another round follows. */
  readonly isRetried: boolean;
  /** From 0. */
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly nowMs: number;
}

/** What {@link EndpointCaller.retry} repeats, and until when. */
export interface RetryScope {
  /** For reports. */
  readonly operation: string;
  readonly signal?: AbortSignal;
  /** False when the work itself waits out an unpaid account (402). Default true. */
  readonly hasBillingPause?: boolean;
  readonly onRetry?: (error: unknown) => void;
}

/** One row of the table, without the types of its objects. */
interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly pool: string;
  readonly maxRetries: number | 'default';
  readonly outerRetry: boolean;
  readonly timeoutMs: number;
  readonly request?: Codec<never>;
  readonly query?: Codec<never>;
  readonly response?: Codec<unknown>;
  readonly requestType?: string;
}

/** The timeout of endpoints that name none of their own; the client's `timeoutMs` option replaces it. */
const DEFAULT_TIMEOUT_MS = 60_000;

/** Calls endpoints by the rules of the table: pool, timeout, both retry layers, codecs. */
export class EndpointCaller {
  readonly #parts: EndpointCallerParts;

  constructor(parts: EndpointCallerParts) {
    this.#parts = parts;
  }

  async call<Key extends EndpointKey>(
    key: Key,
    request: EndpointCall<Key>,
    options: EndpointCallOptions = {},
  ): Promise<EndpointResponse<Key>> {
    const { clock, lifetime } = this.#parts;
    if (options.isScoped && options.signal !== undefined) return this.#perform(key, request, options, options.signal);
    const scope = new CallScope(clock, lifetime, options);
    try {
      if (scope.signal.aborted) throw scope.signal.reason;
      return await this.#perform(key, request, options, scope.signal);
    } catch (error) {
      throw scope.explain(error);
    } finally {
      scope.end();
    }
  }

  #perform<Key extends EndpointKey>(
    key: Key,
    request: EndpointCall<Key>,
    options: EndpointCallOptions,
    signal: AbortSignal,
  ): Promise<EndpointResponse<Key>> {
    const endpoint = endpoints[key] as unknown as Endpoint;
    const send = () => this.#send(key, endpoint, request, options, signal) as Promise<EndpointResponse<Key>>;
    if (!(options.hasOuterRetry ?? endpoint.outerRetry)) return send();
    const { onRetry } = options;
    return this.retry(send, { operation: key, signal, ...(onRetry === undefined ? {} : { onRetry: (error) => onRetry({ error }) }) });
  }

  /** The outer retry layer: repeats work that fails in a way time may heal, waits out an unpaid account, ends at the client's limit. */
  retry<T>(work: () => PromiseLike<T>, { operation, signal, hasBillingPause = true, onRetry }: RetryScope): Promise<T> {
    const { clock, billingPause, maxRetryMs, onFailedRound } = this.#parts;
    const startedAtMs = clock.now();
    const report = (error: unknown, isRetried: boolean, attempt: number): void =>
      onFailedRound?.({ operation, error, isRetried, attempt, startedAtMs, nowMs: clock.now() });
    const outer = outerStrategy({ maxElapsedMs: maxRetryMs });
    return retry(work, {
      strategies: hasBillingPause ? [billingPause.strategy, outer] : [outer],
      clock,
      signal,
      onRetry: ({ error, failures, isPause }) => {
        onRetry?.(error);
        if (!isPause) report(error, true, failures);
      },
      onGiveUp: ({ error, failures }) => report(error, false, failures),
    });
  }

  #send(
    key: EndpointKey,
    endpoint: Endpoint,
    { params = {}, query, body, encoded }: EndpointCall<EndpointKey>,
    { headers, maxRetries, onRetry }: EndpointCallOptions,
    signal: AbortSignal,
  ): Promise<unknown> {
    const retries = maxRetries ?? (endpoint.maxRetries === 'default' ? undefined : endpoint.maxRetries);
    const { http, onHttpRetry } = this.#parts;
    const listener = onRetry === undefined ? onHttpRetry : both(onHttpRetry, onRetry);
    return http.request({
      method: endpoint.method,
      path: fillPath(endpoint.path, params),
      pool: endpoint.pool,
      requestType: endpoint.requestType ?? key,
      signal,
      query: query === undefined ? undefined : (endpoint.query?.encode(query as never) as Query),
      body: encoded === undefined ? endpoint.request?.encode((body ?? {}) as never) : encoded.bytes,
      contentType: encoded?.contentType,
      compress: encoded?.compress,
      maxRetries: retries,
      timeoutMs: endpoint.timeoutMs === DEFAULT_TIMEOUT_MS ? undefined : endpoint.timeoutMs,
      headers,
      parse: endpoint.response === undefined ? nothing : undefined,
      schema: endpoint.response,
      onRetry: listener,
    });
  }
}

/** For an answer nobody reads. */
function nothing(): undefined {
  return undefined;
}

/** The call's own listener, which may end the call, then the client's, if it has one. */
function both(client: EndpointCallerParts['onHttpRetry'], own: (retry: RetryInfo) => void): (retry: RetryInfo) => void {
  return (retry) => {
    own(retry);
    client?.(retry);
  };
}

/** Puts the values into the path as they are: the slash of a checkpoint id separates segments on purpose. */
function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  if (!path.includes('{')) return path;
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? params[camelCase(name)];
    if (value) return value;
    const issues = [{ path: camelCase(name), message: 'is empty' }];
    throw new ValidationError({ direction: 'request', subject: `path ${path}`, issues });
  });
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
