import { AbortedError, TimeoutError } from '@tinkex/types';
import type { Clock } from '../clock/clock.js';
import { decodeBody, decodeStream, hasEncoding } from '../compression/content-encoding.js';
import { redactUrl } from '../redaction/redact.js';
import type { Cancellation, CancellationListener, RequestProgress, TransportResponse } from '../transport/transport.js';
import { AttemptRequest } from './attempt-request.js';
import { type Call, isAnswer, type Reply } from './call.js';
import { IdleLimitedBody } from './idle-limited-body.js';
import type { Lifetime } from './lifetime.js';
import type { Send } from './middleware.js';

const NO_BYTES = new Uint8Array(0);

/**
 * One attempt under one deadline, which covers the connection, the headers and the body. It ends when the deadline passes, the
 * caller aborts or the client closes, whether or not anything below cooperates; then the socket is freed, and no timer and no
 * listener stay behind.
 */
export class Attempt implements Cancellation, CancellationListener, RequestProgress {
  /** Transports that know better set it to `connect` first. */
  phase: 'connect' | 'headers' | 'body' = 'headers';

  readonly #call: Call;
  readonly #clock: Clock;
  readonly #lifetime: Lifetime;
  readonly #resolve: (reply: Reply) => void;
  readonly #reject: (error: unknown) => void;
  #timer: unknown;
  #listener: CancellationListener | undefined;
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  private constructor(call: Call, clock: Clock, lifetime: Lifetime, resolve: (reply: Reply) => void, reject: (error: unknown) => void) {
    this.#call = call;
    this.#clock = clock;
    this.#lifetime = lifetime;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  static run(call: Call, send: Send, clock: Clock, lifetime: Lifetime, hasMiddleware: boolean): Promise<Reply> {
    return new Promise((resolve, reject) => {
      new Attempt(call, clock, lifetime, resolve, reject).#start(send, hasMiddleware);
    });
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

  cancelled(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.release();
    this.#reject(reason);
    this.#listener?.cancelled(reason);
    this.#controller?.abort(reason);
  }

  /** Starts the deadline's timer, or starts it again. */
  arm(): void {
    this.disarm();
    const { timeoutMs, totalDeadlineAtMs } = this.#call;
    const remainingMs = totalDeadlineAtMs === Number.POSITIVE_INFINITY ? totalDeadlineAtMs : totalDeadlineAtMs - this.#clock.now();
    const isTotal = remainingMs < timeoutMs;
    const delayMs = isTotal ? Math.max(0, remainingMs) : timeoutMs;
    if (delayMs === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.setTimeout(() => this.cancelled(this.#timeout(isTotal)), delayMs);
  }

  disarm(): void {
    if (this.#timer === undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Lets go of the timer, the caller's signal and the client. */
  release(): void {
    this.disarm();
    this.#call.signal?.removeEventListener('abort', this);
    this.#lifetime.leave(this);
  }

  #start(send: Send, hasMiddleware: boolean): void {
    const { signal } = this.#call;
    if (signal?.aborted) {
      this.handleEvent();
      return;
    }
    signal?.addEventListener('abort', this);
    this.#lifetime.enter(this);
    this.arm();
    const request = new AttemptRequest(this.#call, this);
    send(hasMiddleware ? request.toPlain() : request).then(
      (response) => this.#receive(response),
      (error: unknown) => this.#fail(error),
    );
  }

  #receive(response: TransportResponse): void {
    if (this.#reason !== undefined) {
      response.body.cancel();
      return;
    }
    this.phase = 'body';
    const { status, headers, body } = response;
    if (this.#call.isStream && isAnswer(this.#call, status)) {
      this.disarm();
      const stream = new IdleLimitedBody(hasEncoding(headers) ? decodeStream(body, headers) : body, this, this.#call.maxResponseBytes);
      this.#resolve({ status, headers, bytes: NO_BYTES, stream });
      return;
    }
    body.bytes(this.#call.maxResponseBytes).then(
      (bytes) => {
        if (hasEncoding(headers)) {
          decodeBody(bytes, headers, this.#call.maxResponseBytes).then(
            (decoded) => this.#finish({ status, headers, bytes: decoded }),
            (error: unknown) => this.#fail(error),
          );
        } else this.#finish({ status, headers, bytes });
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #finish(reply: Reply): void {
    this.release();
    this.#resolve(reply);
  }

  #fail(error: unknown): void {
    this.release();
    this.#reject(error);
  }

  #timeout(isTotal: boolean): TimeoutError {
    const { method, url, timeoutMs } = this.#call;
    const where = `${method} ${redactUrl(url)}`;
    if (isTotal) return new TimeoutError({ message: `${where} did not finish within the total time limit.`, phase: 'total' });
    return new TimeoutError({ message: `${where} timed out after ${timeoutMs} ms in the ${this.phase} phase.`, phase: this.phase });
  }
}
