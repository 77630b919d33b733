import type { HttpClient } from '@tinkex/http';
import { ApiStatusError, RateLimitError } from '@tinkex/types';
import { endpoints, type SampleRequest, type UntypedApiFuture } from '@tinkex/types/wire';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import type { PollScope } from '../futures/poller.js';
import type { BillingPause } from '../limits/billing-pause.js';
import type { TenantRateLimiter } from '../limits/rate-limiter.js';
import type { CallOptions } from '../runtime/call-options.js';
import type { Runtime } from '../runtime/runtime.js';
import type { DispatchLimits } from './admission.js';
import { SampleRequestEncoder } from './request-encoder.js';

const { path, pool, response, maxResponseBytes } = endpoints.asample;
const BACKPRESSURE_HEADERS = { 'x-tinker-sampling-backpressure': '1' };

/** One request to submit. */
export interface Submission {
  readonly request: SampleRequest;
  /** Estimate of the prompt's size. */
  readonly estimatedBytes: number;
  readonly scope: PollScope;
  readonly headers: CallOptions['headers'];
  /** The call in events. */
  readonly callId: number;
}

export interface SampleSubmitterParts extends Pick<Runtime, 'clock' | 'source'> {
  readonly http: HttpClient;
  readonly calls: EndpointCaller;
  readonly billingPause: BillingPause;
  readonly limiter: TenantRateLimiter;
  readonly limits: DispatchLimits;
}

/** Submits the samples of one connection, within its dispatch limits and the shared backoff. */
export class SampleSubmitter {
  readonly #parts: SampleSubmitterParts;
  readonly #encoder = new SampleRequestEncoder();

  constructor(parts: SampleSubmitterParts) {
    this.#parts = parts;
  }

  /** Submits once and returns the server's future. The caller sees any answer that is a failure; a 429 also sets the shared backoff. */
  async submitOnce(submission: Submission): Promise<UntypedApiFuture> {
    const { limits, limiter, source } = this.#parts;
    const { estimatedBytes, scope } = submission;
    // The signal of requests, not of waits: closing the client ends every submission and so empties the queue, without a signal per call.
    const admission = limits.tryEnter(estimatedBytes) ?? (await limits.enter(estimatedBytes, scope.requestSignal));
    try {
      if (limiter.isBlocked) await limiter.wait(scope.signal, source());
      // The server executes a sequence ID once: a submission that met a closed connection is repeated without asking.
      return await this.#send(submission, true);
    } catch (error) {
      if (RateLimitError.isInstance(error)) this.#backOff(error, estimatedBytes);
      throw error;
    } finally {
      limits.leave(admission);
    }
  }

  /**
   * Submits until the server accepts: waits out every 429 (and a 402 within the billing window), and repeats after faults and 5xx for up
   * to five minutes. Always the same request, with the same sequence ID.
   *
   * @param onFailure - Called after each failure that is followed by another attempt. What it throws ends the submission.
   */
  async submitUntilAccepted(submission: Submission, onFailure: (error: unknown) => void): Promise<UntypedApiFuture> {
    const { limits, calls } = this.#parts;
    const { estimatedBytes } = submission;
    const { signal } = submission.scope;
    const admission = limits.tryEnter(estimatedBytes) ?? (await limits.enter(estimatedBytes, signal));
    try {
      for (;;) {
        const send = () => this.#sendUnlessHeldBack(submission, onFailure);
        const accepted = await calls.retry(send, { operation: 'asample', signal, hasBillingPause: false, onRetry: onFailure });
        if (accepted !== undefined) return accepted;
      }
    } finally {
      limits.leave(admission);
    }
  }

  /** Undefined when the server asked to wait; the backoff is set then. */
  async #sendUnlessHeldBack(submission: Submission, onFailure: (error: unknown) => void): Promise<UntypedApiFuture | undefined> {
    const { limiter, source } = this.#parts;
    if (limiter.isBlocked) await limiter.wait(submission.scope.signal, source());
    try {
      return await this.#send(submission);
    } catch (error) {
      if (!ApiStatusError.isInstance(error) || !this.#isHeldBack(error)) throw error;
      this.#backOff(RateLimitError.isInstance(error) ? error : undefined, submission.estimatedBytes);
      onFailure(error);
      return undefined;
    }
  }

  /** Uses the HTTP client directly: a scope and a table lookup per sample would cost more than the exchange itself. */
  async #send({ request, scope, headers, callId }: Submission, repeatsOnClosedConnection = false): Promise<UntypedApiFuture> {
    const { clock, http, limiter, source } = this.#parts;
    const startedAt = clock.monotonicMs();
    const call = http.request({
      method: 'POST',
      path,
      pool,
      requestType: 'Sample',
      callId,
      maxRetries: 0,
      maxResponseBytes,
      repeatsOnClosedConnection,
      body: this.#encoder.encode(request),
      contentType: 'application/json',
      schema: response,
      headers: headers === undefined ? BACKPRESSURE_HEADERS : { ...BACKPRESSURE_HEADERS, ...headers },
      signal: scope.requestSignal,
    });
    // withMetadata() returns a native promise; awaiting the call itself, a thenable, takes three more turns of the microtask queue.
    const { data } = await call.withMetadata();
    if (limiter.hasBackoff) limiter.clearAfterSuccess(startedAt, source());
    return data;
  }

  #isHeldBack({ status }: ApiStatusError): boolean {
    return status === 429 || (status === 402 && this.#parts.billingPause.judge(402).isPaused);
  }

  #backOff(error: RateLimitError | undefined, estimatedBytes: number): void {
    this.#parts.limiter.block(backoffDelayMs(error, estimatedBytes), this.#parts.source());
  }
}

/** Prompts above this estimate back off longer when the server names no time. */
const LARGE_PROMPT_BYTES = 131_072;
const SMALL_PROMPT_BACKOFF_MS = 1_000;
const LARGE_PROMPT_BACKOFF_MS = 5_000;
/** Longer delays are cut to this: after the wait the next submission asks again, and the server can repeat its delay. */
const MAX_BACKOFF_MS = 60_000;

/** How long a refused submission holds the shared backoff: the delay that the server names, else one by the size of the prompt. */
function backoffDelayMs(error: RateLimitError | undefined, estimatedBytes: number): number {
  const named = error?.retryAfterMs;
  if (named !== undefined && named > 0 && Number.isFinite(named)) return Math.min(named, MAX_BACKOFF_MS);
  return estimatedBytes > LARGE_PROMPT_BYTES ? LARGE_PROMPT_BACKOFF_MS : SMALL_PROMPT_BACKOFF_MS;
}
