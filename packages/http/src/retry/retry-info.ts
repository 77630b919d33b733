/** One failed attempt that will be followed by another. */
export interface RetryInfo {
  /** The attempt that failed, from 0. */
  readonly attempt: number;
  /** The wait before the next attempt, milliseconds. */
  readonly delayMs: number;
  /** Set when the server answered. */
  readonly status?: number;
  /** Set when it did not. */
  readonly error?: unknown;
}
