import { hasKind, markKind } from '../identity/kind.js';
import { TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** No usable response came back: refused, reset, truncated, or timed out. */
export class ConnectionError extends TinkexError {
  constructor(options: TinkexErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_CONNECTION', isRetryable: options.isRetryable ?? true });
  }

  /** True for this class and its subclasses, from any copy of this package. */
  static override isInstance(value: unknown): value is ConnectionError {
    return hasKind(value, 'ConnectionError');
  }
}

markKind(ConnectionError, 'ConnectionError');

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
  readonly phase: TimeoutPhase;
  declare readonly timeoutMs?: number | undefined;

  constructor(options: TimeoutErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_TIMEOUT' });
    this.phase = options.phase;
    if (options.timeoutMs !== undefined) this.timeoutMs = options.timeoutMs;
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is TimeoutError {
    return hasKind(value, 'TimeoutError');
  }
}

markKind(TimeoutError, 'TimeoutError');
