import type { RateLimitError } from '@tinkex/types';

/** Prompts above this estimate back off longer when the server names no time. */
const LARGE_PROMPT_BYTES = 131_072;
const SMALL_PROMPT_BACKOFF_MS = 1_000;
const LARGE_PROMPT_BACKOFF_MS = 5_000;
/** Longer wishes of a server are cut to this: the call after the wait asks again, and the server can repeat its wish. */
export const MAX_BACKOFF_MS = 60_000;

/** How long a refused submission holds the shared backoff: what the server asks for, else by the size of the prompt. */
export function backoffDelayMs(error: Pick<RateLimitError, 'retryAfterMs'> | undefined, estimatedBytes: number): number {
  const asked = error?.retryAfterMs;
  if (asked !== undefined && asked > 0 && Number.isFinite(asked)) return Math.min(asked, MAX_BACKOFF_MS);
  return estimatedBytes > LARGE_PROMPT_BYTES ? LARGE_PROMPT_BACKOFF_MS : SMALL_PROMPT_BACKOFF_MS;
}
