import { checkKind } from '../kind.js';
import { TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** No usable response came back: refused, reset, truncated, or timed out. */
export class ConnectionError extends TinkexError {
  static override readonly kind: string = 'ConnectionError';
  static override readonly code: string = 'TINKEX_CONNECTION';
  static override readonly isInstance: (value: unknown) => value is ConnectionError = checkKind('ConnectionError');

  constructor(options: TinkexErrorOptions) {
    super({ ...options, isRetryable: options.isRetryable ?? true });
  }
}

/** What was being waited for when the time ran out. `total`: the whole call with its retries; `wait`: a local wait for a future. */
export type TimeoutPhase = 'connect' | 'headers' | 'body' | 'total' | 'wait';

/** How a {@link TimeoutError} is built. */
export interface TimeoutErrorOptions extends TinkexErrorOptions {
  readonly phase: TimeoutPhase;
  /** The limit that was hit, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** A time limit was hit. A `wait` that timed out leaves the remote work running. */
export class TimeoutError extends ConnectionError {
  static override readonly kind: string = 'TimeoutError';
  static override readonly code: string = 'TINKEX_TIMEOUT';
  static override readonly isInstance: (value: unknown) => value is TimeoutError = checkKind('TimeoutError');

  readonly phase: TimeoutPhase;
  declare readonly timeoutMs?: number | undefined;

  constructor(options: TimeoutErrorOptions) {
    super(options);
    this.phase = options.phase;
    if (options.timeoutMs !== undefined) this.timeoutMs = options.timeoutMs;
  }
}
