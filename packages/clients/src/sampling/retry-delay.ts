import { ApiStatusError, ConnectionError, FutureExpiredError } from '@tinkex/types';
import { isRetryableStatus } from '@tinkex/types/wire';

/** How the retry handler spaces its attempts. */
export interface RetryDelayOptions {
  /** Delay after the first failure, milliseconds. */
  readonly baseDelayMs: number;
  /** Longest delay, milliseconds. */
  readonly maxDelayMs: number;
  /** Share of the delay by which chance may move it either way, 0 to 1. */
  readonly jitter: number;
}

/** Delay after failure number `failures` (from 1): doubling, moved by jitter, never above the maximum. */
export function retryDelayMs(failures: number, options: RetryDelayOptions, random: () => number): number {
  const nominal = Math.min(options.baseDelayMs * 2 ** (failures - 1), options.maxDelayMs);
  const moved = nominal + nominal * options.jitter * (2 * random() - 1);
  return Math.min(Math.max(moved, 0), options.maxDelayMs);
}

/** Whether the retry handler sends a sampling call again after this failure: faults of the network, lost promises, 408, 409, 429, 5xx. */
export function isSamplingRetryable(error: unknown): boolean {
  if (ConnectionError.isInstance(error) || FutureExpiredError.isInstance(error)) return true;
  return ApiStatusError.isInstance(error) && isRetryableStatus(error.status);
}
