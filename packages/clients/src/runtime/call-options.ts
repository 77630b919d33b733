/**
 * What every method of every client takes as its last argument.
 *
 * @example
 * ```text
 * await training.getInfo({ signal: controller.signal, timeoutMs: 30_000 });
 * ```
 */
export interface CallOptions {
  /**
   * Cancels the call: waits for a turn or for room, retries, polls and requests of this call stop, and it rejects with
   * `AbortedError` (`cause` = the signal's reason). An operation the server has already accepted still runs there.
   */
  readonly signal?: AbortSignal;
  /** Limit for the whole call in milliseconds, retries and polling included; then it rejects with `TimeoutError`. No limit by default. */
  readonly timeoutMs?: number;
  /** Sent with each request of this call; they win over the client's own headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How long to wait for something that goes on whether or not anybody waits. */
export interface WaitOptions {
  /** Ends this wait with `AbortedError`. The work, and other waits for it, go on. */
  readonly signal?: AbortSignal;
  /** Ends this wait with `TimeoutError` (phase `wait`) after so many milliseconds. The work goes on. */
  readonly timeoutMs?: number;
}

/** What one step of a call gets: a signal that also stands for the call's time limit and the closing of the client. */
export interface CallStep {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}
