/** Where a request's credential comes from. It is asked anew for each attempt. */
export interface AuthProvider {
  /**
   * The headers that carry the credential, lower-case names. A rejection ends the call, and is retried only when the error is
   * a `TinkexError` with `isRetryable`.
   *
   * @param signal - Aborted when the attempt ends.
   */
  headers(signal?: AbortSignal): Promise<Record<string, string>> | Record<string, string>;
  /** The headers, if they are at hand without any waiting. Optional: saves the price of a signal on the hot path. */
  current?(): Readonly<Record<string, string>> | undefined;
  /** Stops background work. Idempotent. */
  close?(): void | Promise<void>;
}
