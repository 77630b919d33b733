import { ConnectionError } from '@tinkex/types';
import type { AuthProvider } from '../auth/auth-provider.js';
import { type Call, CallFactory, isAnswer, type Reply, requestIdOf } from '../call/call.js';
import type { DeprecationNotice, HttpClientOptions } from '../call/http-client-options.js';
import type { HttpResult, HttpStream, RequestOptions, StreamOptions } from '../call/request-options.js';
import { systemClock } from '../clock/clock.js';
import { compressZstd } from '../compression/zstd.js';
import { AttemptSender } from '../pipeline/attempt-sender.js';
import { closedError, OpenRequests } from '../pipeline/open-requests.js';
import { type CallParts, runAttempts } from '../pipeline/run-attempts.js';
import { withAttempts } from '../retry/retry.js';
import { randomUuid } from '../runtime/random.js';
import { defaultTransport } from '../transport/default-transport.js';
import type { Transport } from '../transport/transport.js';
import { normalizeBaseUrl, originOf } from '../url/url.js';
import { EdgeRejections, type ReplyReader, readReply, statusError } from './read-reply.js';

/**
 * A client of one JSON API: retries, deadlines, credentials, redirects, compression, events.
 *
 * A call is compressed, then retried; each attempt has a deadline and events, and goes through your middleware, the credential,
 * the transport and redirects. The constructor does no I/O.
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
  readonly #auth: AuthProvider | undefined;
  readonly #transport: Transport;
  readonly #ownsTransport: boolean;
  readonly #calls: CallFactory;
  readonly #parts: CallParts;
  readonly #edgeRejections = new EdgeRejections();
  readonly #onDeprecation: ((notice: DeprecationNotice) => void) | undefined;
  #closing: Promise<void> | undefined;

  /** @throws ConfigurationError when an option is invalid. */
  constructor(options: HttpClientOptions) {
    const { auth, transport = defaultTransport(), middleware = [], clock = systemClock, random = Math.random } = options;
    this.baseUrl = normalizeBaseUrl(options.baseUrl);
    this.#auth = auth;
    this.#transport = transport;
    this.#onDeprecation = options.onDeprecation;
    this.#ownsTransport = options.transport === undefined;
    this.#calls = new CallFactory(options, this.baseUrl, clock);
    const { source = sourceOf(this.baseUrl) } = options;
    const sender = new AttemptSender(transport, auth, middleware);
    const edgeFault = (call: Call, reply: Reply) => this.#edgeFault(call, reply);
    this.#parts = { clock, random, openRequests: new OpenRequests(clock), sender, source, edgeFault };
  }

  /**
   * Makes a call. It starts immediately; await it for the data, or `withMetadata()` for the response as well.
   *
   * @throws ApiStatusError for a response that is not a success, ConnectionError and TimeoutError without a response,
   * AbortedError when `signal` or `close()` ends it, ValidationError when the body is not as expected. Each has `attempts`.
   */
  request<T = unknown>(options: RequestOptions<T>): HttpPromise<T> {
    return new HttpPromise(this.#perform(options));
  }

  /** Makes a call whose body is read piece by piece. Retries cover everything up to the headers. Throws like `request`. */
  async stream(options: StreamOptions): Promise<HttpStream> {
    const call = this.#begin(options, true, undefined);
    const reply = this.#accepted(call, await this.#run(call));
    const { status, headers, stream } = reply;
    if (stream === undefined) throw statusError(reply, call, this.#parts.clock.wallMs());
    const requestId = requestIdOf(headers);
    return { status, headers, requestId, attempts: call.attempt + 1, body: stream, cancel: () => stream.cancel() };
  }

  /** Ends calls in flight with `AbortedError`, and frees what the client owns. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Not an `async` function, whose frame would be held by each call in flight. */
  #perform<T>(options: RequestOptions<T>): Promise<HttpResult<T>> {
    let call: Call;
    try {
      call = this.#begin(options, false, options.acceptStatus);
    } catch (error) {
      return Promise.reject(error);
    }
    // A pending call keeps these two, not all of its options.
    const { parse, schema } = options;
    return this.#run(call).then((reply) => this.#result({ parse, schema }, call, this.#accepted(call, reply)));
  }

  #begin(options: StreamOptions, isStream: boolean, acceptStatus: readonly number[] | undefined): Call {
    if (this.#parts.openRequests.isClosed) throw closedError();
    return this.#calls.create(options, isStream, acceptStatus);
  }

  #run(call: Call): Promise<Reply> {
    return call.compress === undefined || call.body === undefined ? runAttempts(call, this.#parts) : this.#compressAndRun(call, call.body);
  }

  /** Compresses the body once, before the first attempt. */
  async #compressAndRun(call: Call, body: string | Uint8Array): Promise<Reply> {
    const compressed = await compressZstd(body);
    if (compressed !== undefined) {
      call.body = compressed;
      call.headers['content-encoding'] = 'zstd';
    }
    return runAttempts(call, this.#parts);
  }

  /** Returns the reply if it is a success, else throws its error. */
  #accepted(call: Call, reply: Reply): Reply {
    this.#announceDeprecation(reply);
    if (isAnswer(call, reply.status)) {
      this.#edgeRejections.succeeded(call.pool);
      return reply;
    }
    // A call that retries these itself has done so.
    const fault = call.retriesEdgeRejections ? undefined : this.#edgeFault(call, reply);
    throw fault ?? statusError(reply, call, this.#parts.clock.wallMs());
  }

  #edgeFault(call: Call, reply: Reply): ConnectionError | undefined {
    if (!this.#edgeRejections.isRejection(call.pool, reply)) return undefined;
    this.#transport.recycle?.(call.pool, originOf(call.url));
    const message = `${call.method} ${call.path}: a proxy refused the connection (an empty 400).`;
    return new ConnectionError({ message, attempts: call.attempt + 1 });
  }

  #announceDeprecation({ headers }: Reply): void {
    const note = headers['x-deprecation-note'];
    if (!note || this.#onDeprecation === undefined) return;
    const isError = headers['x-deprecation-level']?.trim().toLowerCase() === 'error';
    this.#onDeprecation({ note, level: isError ? 'error' : 'warning' });
  }

  #result<T>(reader: ReplyReader<T>, { attempt, retryDelayMs }: Call, reply: Reply): HttpResult<T> {
    const { status, headers } = reply;
    try {
      const data = readReply(reply, reader);
      return { data, status, headers, requestId: requestIdOf(headers), attempts: attempt + 1, retryDelayMs };
    } catch (error) {
      throw withAttempts(error, attempt + 1);
    }
  }

  async #closeAll(): Promise<void> {
    this.#parts.openRequests.close();
    await Promise.all([this.#auth?.close?.(), this.#ownsTransport ? this.#transport.close() : undefined]);
  }
}

/** A call in flight: a promise of its data, with the response's metadata on demand. The call has started already. */
export class HttpPromise<T> implements Promise<T> {
  readonly #result: Promise<HttpResult<T>>;

  constructor(result: Promise<HttpResult<T>>) {
    this.#result = result;
  }

  get [Symbol.toStringTag](): string {
    return 'HttpPromise';
  }

  /** The data together with status, headers, request ID and the number of attempts. */
  withMetadata(): Promise<HttpResult<T>> {
    return this.#result;
  }

  // biome-ignore lint/suspicious/noThenProperty: a promise is what this class is.
  then<Fulfilled = T, Rejected = never>(
    onFulfilled?: ((data: T) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    const readData = onFulfilled ?? ((data: T) => data as unknown as Fulfilled);
    return this.#result.then((result) => readData(result.data), onRejected);
  }

  catch<Rejected = never>(onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null): Promise<T | Rejected> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally);
  }
}

function sourceOf(baseUrl: string): () => { clientId: string; baseUrl: string } {
  const source = { clientId: randomUuid(), baseUrl };
  return () => source;
}
