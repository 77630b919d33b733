import { AbortedError, TimeoutError } from '@tinkex/types';
import { redactUrl } from '@tinkex/types/wire';
import { decodeBody, decodeStream, hasEncoding } from '../compression/content-encoding.js';
import type {
  Cancellation,
  CancellationListener,
  RequestProgress,
  TransportBody,
  TransportRequest,
  TransportResponse,
} from '../transport/transport.js';
import { type Call, isAnswer, type Reply } from './call.js';
import type { DeadlineQueue, Expiring } from './deadline-queue.js';
import { IdleLimitedBody } from './idle-limited-body.js';
import { closedError } from './lifetime.js';
import type { Wire } from './wire.js';

const NO_BYTES = new Uint8Array(0);

/**
 * One attempt under one deadline, which covers the connection, the headers and the body. It ends when the deadline passes, the
 * caller aborts or the client closes, whether or not anything below cooperates; then the socket is freed, and no timer and no
 * listener stay behind. It is its own request, cancellation and progress: one object instead of four on the hot path.
 */
export class Attempt implements Cancellation, CancellationListener, RequestProgress, Expiring, TransportRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly pool: string;
  readonly cancellation: Cancellation;
  readonly progress: RequestProgress;

  /** Transports that know better set it to `connect` first. */
  phase: 'connect' | 'headers' | 'body' = 'headers';
  deadlineAtMs = 0;
  next: Expiring | undefined = undefined;
  previous: Expiring | undefined = undefined;

  readonly #call: Call;
  readonly #wire: Wire;
  readonly #resolve: (reply: Reply) => void;
  readonly #reject: (error: unknown) => void;
  #queue: DeadlineQueue | undefined;
  #listener: CancellationListener | undefined;
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  private constructor(call: Call, wire: Wire, resolve: (reply: Reply) => void, reject: (error: unknown) => void) {
    this.method = call.method;
    this.url = call.url;
    this.headers = call.headers;
    if (call.body !== undefined) this.body = call.body;
    this.pool = call.pool;
    this.cancellation = this;
    this.progress = this;
    this.#call = call;
    this.#wire = wire;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  static run(call: Call, wire: Wire): Promise<Reply> {
    return new Promise((resolve, reject) => new Attempt(call, wire, resolve, reject).#start());
  }

  /** Made on demand: an `AbortController` costs as much as a tenth of a request. */
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

  listen(listener: CancellationListener | undefined): void {
    this.#listener = listener;
    if (this.#reason !== undefined) listener?.cancelled(this.#reason);
  }

  /** The abort event of the caller's signal. */
  handleEvent(): void {
    this.cancelled(new AbortedError({ message: 'The call was aborted.', cause: this.#call.signal?.reason }));
  }

  expired(): void {
    this.cancelled(this.#timeout());
  }

  cancelled(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.release();
    this.#reject(reason);
    this.#listener?.cancelled(reason);
    this.#controller?.abort(reason);
  }

  /** Starts the deadline, or starts it again. */
  arm(): void {
    this.#enter(this.#limitMs());
  }

  disarm(): void {
    this.#queue?.leave(this);
    this.#queue = undefined;
  }

  /** Waits without a limit: between two reads of a streamed body the time belongs to the reader. */
  suspend(): void {
    this.#enter(Number.POSITIVE_INFINITY);
  }

  /** Lets go of the deadline and of the caller's signal. */
  release(): void {
    this.disarm();
    this.#call.signal?.removeEventListener('abort', this);
  }

  /** For user middleware, which copies requests by spreading and may put a signal of its own in place. */
  toPlain(): TransportRequest {
    const { method, url, pool, headers, body, redirect } = this.#call;
    return {
      method,
      url,
      headers: { ...headers },
      ...(body === undefined ? {} : { body }),
      pool,
      redirect,
      signal: this.signal,
      progress: this,
    };
  }

  /** A reader may ask for more of an attempt that has just been ended. It must not wait again: nothing would take it out of its queue. */
  #enter(limitMs: number): void {
    this.disarm();
    if (this.#reason !== undefined) return;
    this.#queue = this.#wire.lifetime.queue(limitMs);
    this.#queue.enter(this);
  }

  #start(): void {
    const { signal } = this.#call;
    if (signal?.aborted) {
      this.handleEvent();
      return;
    }
    // The call may have begun before the client was closed, and compressed its body meanwhile.
    if (this.#wire.lifetime.isClosed) {
      this.cancelled(closedError());
      return;
    }
    signal?.addEventListener('abort', this);
    this.arm();
    this.#guard(() => {
      this.#wire.exchange(this).then(
        (response) => this.#guard(() => this.#receive(response)),
        (error: unknown) => this.#fail(error),
      );
    });
  }

  /** What is thrown by those below, without a promise around it, ends the attempt like a rejection. */
  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  #receive(response: TransportResponse): void {
    const { status } = response;
    const isCancelled = this.#reason !== undefined;
    if (isCancelled || status < 300 || status >= 400 || this.#call.redirect === 'manual' || !this.#wire.isRedirect(this, response)) {
      this.#read(response);
      return;
    }
    this.#wire.follow(this, response).then(
      (final) => this.#guard(() => this.#read(final)),
      (error: unknown) => this.#fail(error),
    );
  }

  #read({ status, headers, body }: TransportResponse): void {
    if (this.#reason !== undefined) {
      body.cancel();
      return;
    }
    this.phase = 'body';
    const { maxResponseBytes } = this.#call;
    if (this.#call.isStream && isAnswer(this.#call, status)) {
      this.suspend();
      const stream = new IdleLimitedBody(this.#decoded(body, headers), this, maxResponseBytes);
      this.#resolve({ status, headers, bytes: NO_BYTES, stream });
      return;
    }
    body.bytes(maxResponseBytes).then(
      (bytes) => {
        if (hasEncoding(headers)) {
          decodeBody(bytes, headers, maxResponseBytes).then(
            (decoded) => this.#finish({ status, headers, bytes: decoded }),
            (error: unknown) => this.#fail(error),
          );
        } else this.#finish({ status, headers, bytes });
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #decoded(body: TransportBody, headers: Readonly<Record<string, string>>): TransportBody {
    if (!hasEncoding(headers)) return body;
    try {
      return decodeStream(body, headers);
    } catch (error) {
      // Nobody will read what cannot be decoded: its connection must not wait for that.
      body.cancel();
      throw error;
    }
  }

  #finish(reply: Reply): void {
    this.release();
    this.#resolve(reply);
  }

  #fail(error: unknown): void {
    this.release();
    this.#reject(error);
  }

  #limitMs(): number {
    const { timeoutMs, totalDeadlineAtMs } = this.#call;
    if (totalDeadlineAtMs === Number.POSITIVE_INFINITY) return timeoutMs;
    return Math.min(timeoutMs, Math.max(0, totalDeadlineAtMs - this.#wire.clock.now()));
  }

  #timeout(): TimeoutError {
    const { method, url, timeoutMs, totalDeadlineAtMs } = this.#call;
    const where = `${method} ${redactUrl(url)}`;
    if (this.#wire.clock.now() >= totalDeadlineAtMs) {
      return new TimeoutError({ message: `${where} did not finish within the total time limit.`, phase: 'total' });
    }
    return new TimeoutError({
      message: `${where} timed out after ${timeoutMs} ms in the ${this.phase} phase.`,
      phase: this.phase,
      timeoutMs,
    });
  }
}
