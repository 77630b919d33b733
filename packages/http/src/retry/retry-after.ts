/** The longest wait that a server may ask for; anything longer is ignored in favour of the usual backoff. */
const MAX_RETRY_AFTER_MS = 60_000;
const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;

/**
 * The wait that a response asks for, in milliseconds: `retry-after-ms`, else `retry-after` as seconds (fractions allowed),
 * else `retry-after` as an HTTP date. The first that can be read counts, even when it is out of range.
 *
 * @param nowMs - The injected clock's time, for dates.
 * @returns `undefined` when the server asks for nothing, or for a wait that is not in (0, 60 s].
 */
export function boundedRetryAfterMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const asked = askedMs(headers['retry-after-ms'], headers['retry-after'], nowMs);
  return asked !== undefined && asked > 0 && asked <= MAX_RETRY_AFTER_MS ? asked : undefined;
}

function askedMs(milliseconds: string | undefined, after: string | undefined, nowMs: number): number | undefined {
  if (milliseconds !== undefined && NUMBER.test(milliseconds)) return Number(milliseconds);
  if (after === undefined) return undefined;
  if (NUMBER.test(after)) return Number(after) * 1_000;
  // Only text with a month's name in it is a date: `Date.parse` reads much else as one.
  if (!/[a-z]{3}/i.test(after)) return undefined;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : date - nowMs;
}
