import { abortedBy, onAbort } from '../abort/on-abort.js';
import { type Clock, systemClock } from '../clock/clock.js';
import { type MonotonicTime, timeAfter } from '../clock/monotonic-time.js';
import { type AuthProvider, checkedCredential, HiddenCredential } from './auth-provider.js';
import { jwtExpirySeconds } from './jwt-claims.js';

/** A new token is used for at least this long, however short its life: no loop of exchanges. */
const MIN_REFRESH_INTERVAL_MS = 10_000;
/** A token with this much left or less is replaced before it is used. */
const MIN_LEFT_MS = 60_000;
/** How long before the expiry the background refresh starts. */
const AHEAD_MS = 300_000;
/** The wait after a failed refresh, or when a token has no readable expiry. */
const RETRY_REFRESH_MS = 60_000;

/** Options of `jwtAuth`. */
export interface JwtAuthOptions {
  /** Exchanges the long-lived credential for a token. One exchange runs at a time. */
  readonly exchange: () => Promise<string>;
  /** The first token. Default: the first call exchanges one. */
  readonly token?: string | undefined;
  /** Called when a refresh fails and the old token stays in use. */
  readonly onRefreshFailure?: ((error: unknown) => void) | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** An `AuthProvider` that can show the token in use. */
export interface JwtAuth extends AuthProvider {
  /** The token in use, for reading its claims; `undefined` before the first exchange. */
  readonly token: string | undefined;
}

/**
 * Sends a short-lived token as `X-API-Key` and keeps it fresh: replaced in the background five minutes before it expires, and
 * before a call when a minute or less is left. A failed refresh leaves the old token in use and is tried again after a minute.
 */
export function jwtAuth(options: JwtAuthOptions): JwtAuth {
  return new RefreshingJwtAuth(options);
}

class RefreshingJwtAuth extends HiddenCredential implements JwtAuth {
  readonly #options: JwtAuthOptions;
  readonly #clock: Clock;
  #headers: Readonly<Record<string, string>> | undefined;
  /** The token is not checked before this time. */
  #freshUntil: MonotonicTime | undefined;
  #refreshing: Promise<void> | undefined;
  #timer: unknown;
  #isClosed = false;

  constructor(options: JwtAuthOptions) {
    super('jwt');
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    if (options.token !== undefined) this.#headers = { 'x-api-key': checkedCredential(options.token, 'token') };
  }

  get token(): string | undefined {
    return this.#headers?.['x-api-key'];
  }

  current(): Readonly<Record<string, string>> | undefined {
    if (this.#timer === undefined && this.#headers !== undefined) this.#schedule(this.#plan().backgroundDelayMs);
    const isNew = this.#freshUntil !== undefined && this.#clock.monotonicMs() < this.#freshUntil;
    return isNew || !this.#plan().isStale ? this.#headers : undefined;
  }

  async headers(signal?: AbortSignal): Promise<Record<string, string>> {
    const current = this.current();
    if (current !== undefined) return { ...current };
    // An exchange whose failure has no reader would be an unhandled rejection.
    if (signal?.aborted) throw abortedBy(signal);
    try {
      await abortable(this.#refresh(), signal);
    } catch (error) {
      if (this.#headers === undefined || signal?.aborted) throw error;
    }
    return { ...this.#headers };
  }

  close(): void {
    this.#isClosed = true;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #plan(): JwtRefreshPlan {
    return planJwtRefresh(this.token ?? '', this.#clock.wallMs());
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#exchange().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #exchange(): Promise<void> {
    try {
      const token = checkedCredential(await this.#options.exchange(), 'token');
      this.#headers = { 'x-api-key': token };
      this.#freshUntil = timeAfter(this.#clock, MIN_REFRESH_INTERVAL_MS);
      this.#schedule(Math.max(MIN_REFRESH_INTERVAL_MS, this.#plan().backgroundDelayMs));
    } catch (error) {
      if (this.#headers !== undefined) {
        this.#schedule(RETRY_REFRESH_MS);
        this.#options.onRefreshFailure?.(error);
      }
      throw error;
    }
  }

  #schedule(delayMs: number): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed) return;
    this.#timer = this.#clock.setTimeout(() => {
      // The exchange has reported the failure and scheduled the next refresh.
      this.#refresh().catch(() => undefined);
    }, delayMs);
  }
}

/** Stops waiting when the signal is aborted; the work continues for the other waiters. */
function abortable(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const unfollow = onAbort(signal, () => reject(abortedBy(signal)));
    work.then(resolve, reject).finally(unfollow);
  });
}

interface JwtRefreshPlan {
  /** The next call must wait for a new token. */
  readonly isStale: boolean;
  /** When to exchange a new token in the background, milliseconds from now. */
  readonly backgroundDelayMs: number;
}

/** When to replace a token, by the wall clock. A token without a readable expiry has nothing left, and works all the same. */
export function planJwtRefresh(token: string, nowMs: number): JwtRefreshPlan {
  try {
    const leftMs = jwtExpirySeconds(token) * 1_000 - nowMs;
    return { isStale: leftMs <= MIN_LEFT_MS, backgroundDelayMs: Math.max(0, leftMs - AHEAD_MS) };
  } catch {
    return { isStale: true, backgroundDelayMs: RETRY_REFRESH_MS };
  }
}
