import { jwtExpirySeconds } from './jwt-claims.js';

/** A token with no more than this left is replaced before it is used. */
const MIN_LEFT_MS = 60_000;
/** The background refresh comes this long before the token expires. */
const AHEAD_MS = 300_000;
/** The wait after a failed refresh, or when a token does not say when it expires. */
export const RETRY_REFRESH_MS = 60_000;

/** What a token's remaining life asks for. */
export interface JwtRefreshPlan {
  /** The next call must wait for a new token. */
  readonly isStale: boolean;
  /** When to get a new token in the background, milliseconds from now. */
  readonly backgroundDelayMs: number;
}

/** When a token must be replaced. A token whose expiry cannot be read counts as having nothing left. */
export function planJwtRefresh(token: string, nowMs: number): JwtRefreshPlan {
  const leftMs = remainingMs(token, nowMs);
  if (leftMs === undefined) return { isStale: true, backgroundDelayMs: RETRY_REFRESH_MS };
  return { isStale: leftMs <= MIN_LEFT_MS, backgroundDelayMs: Math.max(0, leftMs - AHEAD_MS) };
}

function remainingMs(token: string, nowMs: number): number | undefined {
  try {
    return jwtExpirySeconds(token) * 1_000 - nowMs;
  } catch {
    // A server may hand out tokens that say nothing; they work all the same.
    return undefined;
  }
}
