import { ApiStatusError, RateLimitError } from '@tinkex/types';
import { endpoints, type SampleRequest } from '@tinkex/types/wire';
import { tenantLimiter } from '../limits/rate-limiter-registry.js';
import type { RateLimiter } from '../limits/rate-limiter.js';
import type { Connection } from '../service/connection.js';
import { backoffDelayMs } from './backoff-delay.js';
import { DispatchLimits } from './admission.js';
import { SampleRequestEncoder } from './request-encoder.js';

const { path, pool, response } = endpoints.asample;
const BACKPRESSURE_HEADERS = { 'x-tinker-sampling-backpressure': '1' };

/** What ends a submission. */
export interface SubmissionScope {
  /** For waits. */
  readonly signal: AbortSignal;
  /** For requests; undefined when only the closing of the client can end them. */
  readonly requestSignal: AbortSignal | undefined;
}

/** One request to submit. */
export interface Submission {
  readonly request: SampleRequest;
  /** Estimate of the prompt's size. */
  readonly estimatedBytes: number;
  readonly scope: SubmissionScope;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Told of each failure that is followed by another attempt. What it throws ends the submission. */
  readonly onFailure?: (error: unknown) => void;
}

/** Sends sampling submissions of one connection through its dispatch limits and the shared backoff. */
export class SampleSubmitter {
  readonly limiter: RateLimiter;
  readonly limits: DispatchLimits;
  readonly #connection: Connection;
  readonly #encoder = new SampleRequestEncoder();

  constructor(connection: Connection) {
    const { limits, config } = connection;
    this.#connection = connection;
    this.limiter = tenantLimiter(connection.tenantId, connection.clock);
    this.limits = new DispatchLimits(this.limiter, {
      maxPromptBytes: limits.maxPromptBytesInFlight ?? config.sampleDispatchBytesSemaphoreSize,
      ...(limits.maxConcurrentSampleSubmissions === undefined ? {} : { maxSubmissions: limits.maxConcurrentSampleSubmissions }),
      ...(limits.maxThrottledSampleSubmissions === undefined ? {} : { maxThrottledSubmissions: limits.maxThrottledSampleSubmissions }),
    });
  }

  /** Submits once and returns the promise's id. Any failure is the caller's; a 429 also sets the shared backoff. */
  async submitOnce(submission: Submission): Promise<string> {
    const { estimatedBytes, scope } = submission;
    // The signal of requests, not of waits: closing the client ends every submission and so empties the line, without a signal for each call in it.
    const admission = this.limits.tryEnter(estimatedBytes) ?? (await this.limits.enter(estimatedBytes, scope.requestSignal));
    try {
      if (this.limiter.isBlocked) await this.limiter.wait(scope.signal, this.#connection.source());
      return await this.#send(submission);
    } catch (error) {
      if (RateLimitError.isInstance(error)) this.#backOff(error, estimatedBytes);
      throw error;
    } finally {
      this.limits.leave(admission);
    }
  }

  /**
   * Submits until the server accepts: waits out every 429 (and a 402 within the billing window), and repeats after faults and 5xx
   * for up to five minutes. Always the same request, so the same `seq_id`.
   */
  async submitPatiently(submission: Submission): Promise<string> {
    const { source } = this.#connection;
    const { estimatedBytes, onFailure } = submission;
    const { signal } = submission.scope;
    const admission = this.limits.tryEnter(estimatedBytes) ?? (await this.limits.enter(estimatedBytes, signal));
    try {
      for (;;) {
        const requestId = await this.#connection.retry(
          async () => {
            if (this.limiter.isBlocked) await this.limiter.wait(signal, source());
            return this.#sendUnlessHeldBack(submission);
          },
          { operation: 'asample', signal, hasBillingPause: false, ...(onFailure ? { onRetry: onFailure } : {}) },
        );
        if (requestId !== undefined) return requestId;
      }
    } finally {
      this.limits.leave(admission);
    }
  }

  /** Undefined when the server asked to wait; the backoff is set then. */
  async #sendUnlessHeldBack(submission: Submission): Promise<string | undefined> {
    try {
      return await this.#send(submission);
    } catch (error) {
      if (!ApiStatusError.isInstance(error) || !this.#isHeldBack(error)) throw error;
      this.#backOff(RateLimitError.isInstance(error) ? error : undefined, submission.estimatedBytes);
      submission.onFailure?.(error);
      return undefined;
    }
  }

  /** Straight to the HTTP client: a call per sample through the general path would cost more than the exchange itself. */
  async #send({ request, scope, headers }: Submission): Promise<string> {
    const { clock, http } = this.#connection;
    const startedAtMs = clock.now();
    const call = http.request({
      method: 'POST',
      path,
      pool,
      requestType: 'Sample',
      maxRetries: 0,
      body: this.#encoder.encode(request),
      contentType: 'application/json',
      schema: response,
      headers: headers === undefined ? BACKPRESSURE_HEADERS : { ...BACKPRESSURE_HEADERS, ...headers },
      signal: scope.requestSignal,
    });
    // The promise of the whole result is a native one; awaiting the call itself, a thenable, takes three more steps of the queue.
    const { requestId } = (await call.withMetadata()).data;
    if (this.limiter.blockedUntilMs !== 0) this.limiter.noteSuccess(startedAtMs, this.#connection.source());
    return requestId;
  }

  #isHeldBack({ status }: ApiStatusError): boolean {
    return status === 429 || (status === 402 && this.#connection.billingPause.judge(402).isPaused);
  }

  #backOff(error: RateLimitError | undefined, estimatedBytes: number): void {
    this.limiter.block(backoffDelayMs(error, estimatedBytes), this.#connection.source());
  }
}

const submitters = new WeakMap<Connection, SampleSubmitter>();

/** The submitter that all sampling clients of a connection share. */
export function submitterOf(connection: Connection): SampleSubmitter {
  let submitter = submitters.get(connection);
  if (!submitter) {
    submitter = new SampleSubmitter(connection);
    submitters.set(connection, submitter);
  }
  return submitter;
}
