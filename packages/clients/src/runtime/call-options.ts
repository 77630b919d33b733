/**
 * Options of every call. Each method takes them in its last argument, next to the method's own options if it has any.
 *
 * @example
 * ```text
 * await training.getInfo({ signal: controller.signal, timeoutMs: 30_000 });
 * ```
 */
export interface CallOptions {
  /**
   * Cancels the call: its queued waits, retries, polls and requests stop, and it rejects with `AbortedError` (`cause` is the signal's
   * reason). An operation that the server has already accepted still runs there.
   */
  readonly signal?: AbortSignal | undefined;
  /** Limit of the whole call in milliseconds, retries and polling included. Then the call rejects with `TimeoutError`. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Sent with each request of this call. They win over the client's headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of one wait for something that continues whether or not you wait for it. */
export interface WaitOptions {
  /** Ends this wait with `AbortedError`. The operation and other waits for it continue. */
  readonly signal?: AbortSignal | undefined;
  /** Limit of this wait in milliseconds. Then it rejects with `TimeoutError` (phase `wait`). The operation continues. */
  readonly timeoutMs?: number | undefined;
}

/** Options of one step of a call: the signal also covers the call's time limit and the closing of the client. */
export interface CallStep {
  readonly signal: AbortSignal;
  readonly headers?: CallOptions['headers'];
  /** The call in events. */
  readonly callId?: number | undefined;
}
