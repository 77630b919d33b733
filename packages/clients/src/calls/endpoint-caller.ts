import { type HttpClient, outerStrategy, type Query, type RetryInfo, type RetryStrategy, retry } from '@tinkex/http';
import type { RetryFailure } from '@tinkex/telemetry/reporter';
import { ValidationError } from '@tinkex/types';
import { type Endpoint, endpoints } from '@tinkex/types/wire';
import type { BillingPause } from '../limits/billing-pause.js';
import { CallScope } from '../runtime/call-scope.js';
import { noteFailedAttempt } from '../runtime/failed-attempts.js';
import type { Runtime } from '../runtime/runtime.js';
import { type AttemptFailure, Doubt, statusOf } from './attempt-failure.js';
import type { EndpointCallOptions, EndpointKey, EndpointRequest, EndpointResponse } from './endpoint-types.js';

/** What the calls of one connection share. */
export interface EndpointCallerParts extends Pick<Runtime, 'clock' | 'lifetime'> {
  readonly http: HttpClient;
  readonly billingPause: BillingPause;
  /** Limit of the outer retry layer in milliseconds. */
  readonly maxRetryMs: number;
  /** Called after each failed round of the outer layer, except those that an unpaid account or the caller ended. */
  readonly onFailedRound?: (failure: RetryFailure) => void;
  /** Called after each failed HTTP attempt that will be repeated. */
  readonly onHttpRetry?: (retry: RetryInfo) => void;
}

/** What {@link EndpointCaller.retry} repeats, and until when. */
export interface OuterRetryOptions {
  /** Its name in reports. */
  readonly operation: string;
  readonly signal?: AbortSignal | undefined;
  /** False when the work itself waits while the account is unpaid (402). Default true. */
  readonly hasBillingPause?: boolean;
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/** Calls endpoints by the rules of the endpoint table: pool, timeout, both retry layers, codecs. */
export class EndpointCaller {
  readonly #parts: EndpointCallerParts;
  readonly #outerStrategy: RetryStrategy;

  constructor(parts: EndpointCallerParts) {
    this.#parts = parts;
    this.#outerStrategy = outerStrategy({ maxElapsedMs: parts.maxRetryMs });
  }

  async call<Key extends EndpointKey>(
    key: Key,
    request: EndpointRequest<Key>,
    options: EndpointCallOptions = {},
  ): Promise<EndpointResponse<Key>> {
    if (options.isScoped && options.signal !== undefined) return this.#perform(key, request, options, options.signal);
    const scope = new CallScope(this.#parts, options);
    try {
      scope.throwIfEnded();
      return await this.#perform(key, request, options, scope.signal);
    } catch (error) {
      throw scope.explain(error);
    } finally {
      scope.end();
    }
  }

  /** The outer retry layer: repeats work that fails temporarily, pauses while the account is unpaid, and stops at the client's limit. */
  retry<T>(work: () => PromiseLike<T>, { operation, signal, hasBillingPause = true, onRetry }: OuterRetryOptions): Promise<T> {
    const { clock, billingPause, onFailedRound } = this.#parts;
    return retry(work, {
      strategies: hasBillingPause ? [billingPause.strategy, this.#outerStrategy] : [this.#outerStrategy],
      clock,
      signal,
      onRetry: ({ error, failures, isPause, elapsedMs, wallMs }) => {
        noteFailedAttempt(signal, error, statusOf({ error }));
        onRetry?.(error);
        if (!isPause) onFailedRound?.({ operation, error, isRetried: true, attempt: failures, elapsedMs, wallMs });
      },
      onGiveUp: ({ error, failures, elapsedMs, wallMs }) =>
        onFailedRound?.({ operation, error, isRetried: false, attempt: failures, elapsedMs, wallMs }),
    });
  }

  #perform<Key extends EndpointKey>(
    key: Key,
    request: EndpointRequest<Key>,
    options: EndpointCallOptions,
    signal: AbortSignal,
  ): Promise<EndpointResponse<Key>> {
    const endpoint: Endpoint = endpoints[key];
    let doubt: Doubt | undefined;
    const onRetry = (failure: AttemptFailure): void => {
      doubt ??= new Doubt();
      doubt.note(failure);
      options.onRetry?.(failure);
    };
    const onHttpRetry = (failure: AttemptFailure): void => {
      noteFailedAttempt(signal, failure.error, statusOf(failure));
      onRetry(failure);
    };
    const send = () => this.#send(key, endpoint, request, { ...options, onRetry: onHttpRetry }, signal) as Promise<EndpointResponse<Key>>;
    const hasOuterRetry = options.hasOuterRetry ?? endpoint.outerRetry;
    const sent = hasOuterRetry ? this.retry(send, { operation: key, signal, onRetry: (error) => onRetry({ error }) }) : send();
    return sent.catch((error: unknown) => {
      throw doubt === undefined ? error : doubt.explain(error);
    });
  }

  #send(
    key: EndpointKey,
    endpoint: Endpoint,
    { params = {}, query, body, encoded }: EndpointRequest<EndpointKey>,
    { headers, callId, maxRetries, acceptStatus, onRetry }: EndpointCallOptions,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { http, onHttpRetry } = this.#parts;
    return http.request({
      method: endpoint.method,
      path: fillPath(endpoint.path, params),
      pool: endpoint.pool,
      requestType: endpoint.requestType ?? key,
      callId,
      signal,
      query: query === undefined ? undefined : (endpoint.query?.encode(query as never) as Query),
      body: encoded === undefined ? endpoint.request?.encode((body ?? {}) as never) : encoded.bytes,
      contentType: encoded?.contentType,
      compress: encoded?.compress,
      maxRetries: maxRetries ?? unlessDefault(endpoint.maxRetries),
      attemptTimeoutMs: unlessDefault(endpoint.timeoutMs),
      maxResponseBytes: unlessDefault(endpoint.maxResponseBytes),
      // No layer above would.
      retriesEdgeRejections: !endpoint.outerRetry,
      headers,
      parse: endpoint.response === undefined ? ignoreBody : undefined,
      schema: endpoint.response,
      acceptStatus,
      onRetry: onRetry === undefined ? onHttpRetry : callBoth(onRetry, onHttpRetry),
    });
  }
}

function ignoreBody(): undefined {
  return undefined;
}

/** A setting of the table, or undefined where the client's option applies. */
function unlessDefault(setting: number | 'default'): number | undefined {
  return setting === 'default' ? undefined : setting;
}

/** The call's listener comes first: it may end the call. */
function callBoth(first: (retry: RetryInfo) => void, second: ((retry: RetryInfo) => void) | undefined): (retry: RetryInfo) => void {
  return (info) => {
    first(info);
    second?.(info);
  };
}

/** Inserts the values unescaped: the slash of a checkpoint ID separates segments on purpose. */
export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
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
