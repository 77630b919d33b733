import { randomUUID } from 'node:crypto';
import { ConnectionError } from '@tinkex/types';
import type { AuthProvider } from '../auth/auth-provider.js';
import { type Clock, systemClock } from '../clock/clock.js';
import { compressionStage } from '../compression/compression-stage.js';
import { diagnosticsStage } from '../diagnostics/diagnostics-stage.js';
import { Attempt } from '../pipeline/attempt.js';
import { type Call, isAnswer, type Reply } from '../pipeline/call.js';
import { closedError, Lifetime } from '../pipeline/lifetime.js';
import { requestIdOf } from '../pipeline/request-id.js';
import { compose } from '../pipeline/stage.js';
import { Wire } from '../pipeline/wire.js';
import { withAttempts } from '../retry/retry.js';
import { retryStage } from '../retry/retry-stage.js';
import type { Transport } from '../transport/transport.js';
import { UndiciTransport } from '../transport/undici-transport.js';
import { normalizeBaseUrl } from '../url/base-url.js';
import { originOf } from '../url/join-url.js';
import { CallFactory } from './call-factory.js';
import { EdgeRejections } from './edge-rejections.js';
import type { HttpClientOptions } from './http-client-options.js';
import { HttpPromise } from './http-promise.js';
import { readReply, statusError } from './read-reply.js';
import type { HttpResult, HttpStream, RequestOptions, StreamOptions } from './request-options.js';

/**
 * A client of one JSON API: retries, deadlines, credentials, redirects, compression, events.
 *
 * A call goes through compression, retries, events and a deadline for each attempt; each attempt goes through your middleware,
 * the credential, redirects and the transport. No I/O happens in the constructor.
 *
 * @example
 * ```ts
 * import { apiKeyAuth, HttpClient } from '@tinkex/http';
 *
 * await using client = new HttpClient({ baseUrl: 'https://api.example.com', auth: apiKeyAuth('tml-…') });
 * ```
 */
export class HttpClient {
  readonly baseUrl: string;
  readonly #clock: Clock;
  readonly #auth: AuthProvider | undefined;
  readonly #transport: Transport;
  readonly #ownsTransport: boolean;
  readonly #calls: CallFactory;
  readonly #lifetime: Lifetime;
  readonly #edgeRejections = new EdgeRejections();
  readonly #run: (call: Call) => Promise<Reply>;
  #closing: Promise<void> | undefined;

  /** @throws ConfigurationError when an option makes no sense. */
  constructor(options: HttpClientOptions) {
    this.baseUrl = normalizeBaseUrl(options.baseUrl);
    this.#clock = options.clock ?? systemClock;
    this.#lifetime = new Lifetime(this.#clock);
    this.#auth = options.auth;
    this.#ownsTransport = options.transport === undefined;
    this.#transport = options.transport ?? new UndiciTransport();
    this.#calls = new CallFactory(options, this.baseUrl, this.#clock);
    this.#run = this.#pipeline(options);
  }

  /**
   * Makes a call. It starts at once; await it for the data, or `withMetadata()` for the response as well.
   *
   * @throws ApiStatusError for an answer that is no success, ConnectionError and TimeoutError when there is none, AbortedError
   * when `signal` or `close()` ends it, ValidationError when the body is not what was expected. Each carries `attempts`.
   */
  request<T = unknown>(options: RequestOptions<T>): HttpPromise<T> {
    return new HttpPromise(this.#perform(options));
  }

  /** Makes a call whose body is read piece by piece. Retries cover everything up to the headers. Throws as `request` does. */
  async stream(options: StreamOptions): Promise<HttpStream> {
    const call = this.#begin(options, true, undefined);
    const reply = this.#accepted(call, await this.#run(call));
    const { stream } = reply;
    if (stream === undefined) throw statusError(reply, call, this.#clock.now());
    return { ...responseFacts(call, reply), body: stream, cancel: () => stream.cancel() };
  }

  /** Ends what is under way with `AbortedError`, and frees what the client owns. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Not an `async` function: what it throws while it begins is a rejection too, and the frame of one would be held for each call. */
  #perform<T>(options: RequestOptions<T>): Promise<HttpResult<T>> {
    let call: Call;
    try {
      call = this.#begin(options, false, options.acceptStatus);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#run(call).then((reply) => this.#result(options, call, this.#accepted(call, reply)));
  }

  #result<T>(options: RequestOptions<T>, call: Call, reply: Reply): HttpResult<T> {
    const { status, headers } = reply;
    const { attempt, retryDelayMs } = call;
    let data: T;
    try {
      data = readReply(reply, options);
    } catch (error) {
      throw attempt === 0 ? error : withAttempts(error, attempt + 1);
    }
    const requestId = requestIdOf(headers);
    const result = { data, status, headers, attempts: attempt + 1, retryDelayMs };
    return requestId === undefined ? result : { ...result, requestId };
  }

  #begin(options: StreamOptions, isStream: boolean, acceptStatus: readonly number[] | undefined): Call {
    if (this.#lifetime.isClosed) throw closedError();
    return this.#calls.create(options, isStream, acceptStatus);
  }

  /** The reply, if it is what the caller hoped for. */
  #accepted(call: Call, reply: Reply): Reply {
    if (isAnswer(call, reply.status)) {
      this.#edgeRejections.succeeded(call.pool);
      return reply;
    }
    if (this.#edgeRejections.isRejection(call.pool, reply)) {
      this.#transport.recycle?.(call.pool, originOf(call.url));
      throw new ConnectionError({
        message: `${call.method} ${call.path}: a proxy refused the connection (an empty 400).`,
        attempts: call.attempt + 1,
      });
    }
    throw statusError(reply, call, this.#clock.now());
  }

  #pipeline(options: HttpClientOptions): (call: Call) => Promise<Reply> {
    const clock = this.#clock;
    const source = options.source ?? defaultSource(this.baseUrl);
    const wire = new Wire(clock, this.#lifetime, this.#transport, options.auth, options.middleware ?? []);
    return compose(
      [compressionStage, retryStage(clock, options.random ?? Math.random, this.#lifetime, source), diagnosticsStage(clock, source)],
      (call) => Attempt.run(call, wire),
    );
  }

  async #closeAll(): Promise<void> {
    this.#lifetime.close();
    await Promise.all([this.#auth?.close?.(), this.#ownsTransport ? this.#transport.close() : undefined]);
  }
}

function responseFacts({ attempt }: Call, { status, headers }: Reply): Omit<HttpStream, 'body' | 'cancel'> {
  const requestId = requestIdOf(headers);
  return { status, headers, attempts: attempt + 1, ...(requestId === undefined ? {} : { requestId }) };
}

function defaultSource(baseUrl: string): () => { clientId: string; baseUrl: string } {
  const source = { clientId: randomUUID(), baseUrl };
  return () => source;
}
