import { TimeoutError, ValidationError } from '@tinkex/types';
import { redactUrl } from '@tinkex/types/wire';
import { abortedBy, onAbort } from '../abort/on-abort.js';
import { type Call, isAnswer, isSuccess, type Reply } from '../call/call.js';
import type { Clock } from '../clock/clock.js';
import { NEVER, remainingMs } from '../clock/monotonic-time.js';
import { decodeBody, decodeStream } from '../compression/content-encoding.js';
import type {
  Cancellation,
  CancellationListener,
  RequestProgress,
  TransportBody,
  TransportRequest,
  TransportResponse,
} from '../transport/transport.js';
import type { AttemptSender } from './attempt-sender.js';
import { IdleLimitedBody } from './idle-limited-body.js';
import { closedError, type DeadlineQueue, type Expiring, type OpenRequests } from './open-requests.js';

const NO_BYTES = new Uint8Array(0);
/** The body of a failure is a few lines. */
const MAX_ERROR_BYTES = 1024 * 1024;

/** What all attempts of a client share. */
export interface AttemptParts {
  readonly clock: Clock;
  readonly openRequests: OpenRequests;
  readonly sender: AttemptSender;
}

/**
 * One attempt under one deadline, which covers the connection, the headers and the body. It ends when the deadline passes, the
 * caller aborts or the client closes, whether or not the layers below cooperate; then the socket is freed, and no timer and no
 * listener stay behind.
 *
 * One object plays every role, because each further object would be paid for by each request: it is the request that the
 * transport sends, that request's cancellation and progress, and the entry in the queue of deadlines.
 */
export class Attempt implements TransportRequest, Cancellation, RequestProgress, Expiring {
  // The request.
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | undefined;
  readonly pool: string;
  readonly isAlone: boolean;
  readonly cancellation: Cancellation;
  readonly progress: RequestProgress;

  // Its progress. A transport that opens connections sets `connect` first.
  phase: 'connect' | 'headers' | 'body' = 'headers';

  // Its entry in the queue of deadlines.
  deadline = NEVER;
  next: Expiring | undefined = undefined;
  previous: Expiring | undefined = undefined;
  #queue: DeadlineQueue | undefined;

  // Its cancellation.
  #reason: Error | undefined;
  #listener: CancellationListener | undefined;
  #controller: AbortController | undefined;
  #unfollow: (() => void) | undefined;

  readonly #call: Call;
  readonly #parts: AttemptParts;
  readonly #resolve: (reply: Reply) => void;
  readonly #reject: (error: unknown) => void;

  private constructor(call: Call, parts: AttemptParts, resolve: (reply: Reply) => void, reject: (error: unknown) => void) {
    this.method = call.method;
    this.url = call.url;
    this.headers = call.headers;
    this.body = call.body;
    this.pool = call.pool;
    this.isAlone = call.isAlone;
    this.cancellation = this;
    this.progress = this;
    this.#call = call;
    this.#parts = parts;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  static run(call: Call, parts: AttemptParts): Promise<Reply> {
    return new Promise((resolve, reject) => new Attempt(call, parts, resolve, reject).#start());
  }

  #start(): void {
    const { signal } = this.#call;
    // The call may have started before the client was closed, and compressed its body meanwhile.
    const isClosed = this.#parts.openRequests.isClosed;
    if (isClosed || signal?.aborted) {
      this.cancelled(signal?.aborted ? abortedBy(signal) : closedError());
      return;
    }
    if (signal !== undefined) this.#unfollow = onAbort(signal, () => this.cancelled(abortedBy(signal)));
    this.arm();
    try {
      this.#parts.sender.send(this).then(
        (response) => this.#receive(response),
        (error: unknown) => this.#fail(error),
      );
    } catch (error) {
      // Middleware and transports of users may throw before they return a promise.
      this.#fail(error);
    }
  }

  async #receive(response: TransportResponse): Promise<void> {
    const { sender } = this.#parts;
    try {
      const mayFollow = response.status >= 300 && response.status < 400 && this.#call.redirect === 'follow' && this.#reason === undefined;
      const isFollowed = mayFollow && sender.isRedirect(this, response);
      const reply = await this.#read(isFollowed ? await sender.follow(this, response) : response);
      if (reply.stream === undefined) this.release();
      else if (this.#reason !== undefined) reply.stream.cancel();
      this.#resolve(reply);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #read({ status, headers, body }: TransportResponse): Promise<Reply> {
    if (this.#reason !== undefined) {
      body.cancel();
      throw this.#reason;
    }
    this.phase = 'body';
    const { isStream, maxResponseBytes } = this.#call;
    if (isStream && isAnswer(this.#call, status)) {
      this.suspend();
      const stream = new IdleLimitedBody(this.#decoded(body, headers), this, maxResponseBytes);
      return { status, headers, bytes: NO_BYTES, stream };
    }
    // A status that the caller accepts, such as the 408 of a poll, is still not a result.
    const bytes = isSuccess(status)
      ? await readBody(body, headers, maxResponseBytes)
      : await readErrorBody(body, headers, Math.min(maxResponseBytes, MAX_ERROR_BYTES));
    return { status, headers, bytes };
  }

  #decoded(body: TransportBody, headers: Readonly<Record<string, string>>): TransportBody {
    try {
      return decodeStream(body, headers);
    } catch (error) {
      // A body that cannot be decoded is never read: free its connection.
      body.cancel();
      throw error;
    }
  }

  #fail(error: unknown): void {
    this.release();
    this.#reject(error);
  }

  /** Created on demand: an `AbortController` costs as much as a tenth of a request. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Why the attempt was ended from outside. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** The request for user middleware, which copies requests by spreading and may replace the signal. */
  toPlain(): TransportRequest {
    const { method, url, pool, isAlone, headers, body, redirect } = this.#call;
    return { method, url, headers: { ...headers }, body, pool, isAlone, redirect, signal: this.signal, progress: this };
  }

  listen(listener: CancellationListener | undefined): void {
    this.#listener = listener;
    if (this.#reason !== undefined) listener?.cancelled(this.#reason);
  }

  cancelled(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.release();
    this.#reject(reason);
    this.#listener?.cancelled(reason);
    this.#controller?.abort(reason);
  }

  expired(): void {
    const { method, url, attemptTimeoutMs, deadline } = this.#call;
    const request = `${method} ${redactUrl(url)}`;
    const isCallLimit = this.#parts.clock.monotonicMs() >= deadline;
    const error = isCallLimit
      ? new TimeoutError({ message: `${request} did not finish within the time limit for the call.`, phase: 'total' })
      : new TimeoutError({
          message: `${request} timed out after ${attemptTimeoutMs} ms in the ${this.phase} phase.`,
          phase: this.phase,
          timeoutMs: attemptTimeoutMs,
        });
    this.cancelled(error);
  }

  /** Starts the deadline, or starts it again. */
  arm(): void {
    const { attemptTimeoutMs, deadline } = this.#call;
    const leftMs = deadline === NEVER ? Number.POSITIVE_INFINITY : Math.max(0, remainingMs(this.#parts.clock, deadline));
    this.#enter(Math.min(attemptTimeoutMs, leftMs));
  }

  /** Waits without a limit: between two reads of a streamed body, the reader takes the time it needs. */
  suspend(): void {
    this.#enter(Number.POSITIVE_INFINITY);
  }

  /** Drops the deadline and the caller's signal. */
  release(): void {
    this.#queue?.leave(this);
    this.#queue = undefined;
    this.#unfollow?.();
  }

  /** A canceled attempt must not wait again, even if its body is read: nothing would take it out of the queue. */
  #enter(limitMs: number): void {
    this.#queue?.leave(this);
    this.#queue = undefined;
    if (this.#reason !== undefined) return;
    this.#queue = this.#parts.openRequests.queue(limitMs);
    this.#queue.enter(this);
  }
}

async function readBody(body: TransportBody, headers: Readonly<Record<string, string>>, maxBytes: number): Promise<Uint8Array> {
  const bytes = await body.bytes(maxBytes);
  return headers['content-encoding'] === undefined ? bytes : decodeBody(bytes, headers, maxBytes);
}

/** A body that is too large, or in an unknown encoding, does not change what the status says: a 503 stays a 503, without its text. */
async function readErrorBody(body: TransportBody, headers: Readonly<Record<string, string>>, maxBytes: number): Promise<Uint8Array> {
  try {
    return await readBody(body, headers, maxBytes);
  } catch (error) {
    if (ValidationError.isInstance(error)) return NO_BYTES;
    throw error;
  }
}
