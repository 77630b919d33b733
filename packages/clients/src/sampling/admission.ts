import { AdmissionQueue } from '../limits/admission-queue.js';
import type { RateLimiter } from '../limits/rate-limiter.js';

/** How much a prompt counts in the byte budget while the server has asked us to slow down. */
const THROTTLED_COST_FACTOR = 20;

/** Limits on sampling submissions; each holds for one connection. */
export interface DispatchLimitOptions {
  /** Submissions at once. Default 400. */
  readonly maxSubmissions?: number;
  /** Submissions at once during a backoff and for 10 s after it. Default 10. */
  readonly maxThrottledSubmissions?: number;
  /** Estimated prompt bytes being submitted at once. Default: what the server says, else 10 MiB. */
  readonly maxPromptBytes?: number;
}

/** What an admitted submission has taken and must give back. */
export interface Admission {
  readonly isThrottled: boolean;
  readonly bytes: number;
}

/** The door every sampling submission of a connection goes through, and stays inside until the server has accepted it. */
export class DispatchLimits {
  readonly submissions: AdmissionQueue;
  readonly throttledSubmissions: AdmissionQueue;
  readonly promptBytes: AdmissionQueue;
  readonly #limiter: RateLimiter;

  constructor(limiter: RateLimiter, options: DispatchLimitOptions = {}) {
    this.#limiter = limiter;
    this.submissions = AdmissionQueue.counting(options.maxSubmissions ?? 400);
    this.throttledSubmissions = AdmissionQueue.counting(options.maxThrottledSubmissions ?? 10);
    this.promptBytes = AdmissionQueue.bytes(options.maxPromptBytes ?? 10 * 1024 * 1024);
  }

  /** Enters at once when nothing is in the way: the common case, without a promise. */
  tryEnter(estimatedBytes: number): Admission | undefined {
    if (this.#limiter.isThrottled || !this.submissions.tryEnter(1)) return undefined;
    if (this.promptBytes.tryEnter(estimatedBytes)) return { isThrottled: false, bytes: estimatedBytes };
    this.submissions.leave(1);
    return undefined;
  }

  /** Waits for each limit in turn. Gives back what it holds when the signal fires. */
  async enter(estimatedBytes: number, signal?: AbortSignal): Promise<Admission> {
    await this.submissions.enter(1, signal);
    let isThrottled = false;
    try {
      // Looked at at each step: a 429 may come while this call stands in line.
      if (this.#limiter.isThrottled) {
        await this.throttledSubmissions.enter(1, signal);
        isThrottled = true;
      }
      const bytes = this.#limiter.isThrottled ? estimatedBytes * THROTTLED_COST_FACTOR : estimatedBytes;
      await this.promptBytes.enter(bytes, signal);
      return { isThrottled, bytes };
    } catch (error) {
      if (isThrottled) this.throttledSubmissions.leave(1);
      this.submissions.leave(1);
      throw error;
    }
  }

  /** Gives everything back. */
  leave(admission: Admission): void {
    this.promptBytes.leave(admission.bytes);
    if (admission.isThrottled) this.throttledSubmissions.leave(1);
    this.submissions.leave(1);
  }
}
