type Headers = Readonly<Record<string, string>>;

/** The statuses below 500 after which the same request may succeed. From 500 on, every status is one of them. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 409, 429]);

/** Whether the same request may succeed after this status: 408, 409, 429 and 5xx, as in the reference client. */
export function isRetryableStatus(status: number): boolean {
  return status >= 500 || RETRYABLE_STATUSES.has(status);
}

/** Whether a response is worth another attempt: `x-should-retry` decides if it is exactly `true` or `false`, else the status. */
export function isRetryableResponse(status: number, headers: Headers): boolean {
  const advice = headers['x-should-retry'];
  return advice === 'true' || (advice !== 'false' && isRetryableStatus(status));
}

/** No two parts of it match the same text, so that a long text takes no longer than its length. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * How long a server asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` as seconds (fractions allowed) or as an HTTP
 * date. The first that can be read counts, even when it is out of range.
 *
 * @param headers - Lower-case names.
 * @param nowMs - The current time in Unix milliseconds, for HTTP dates.
 * @param options - `maxMs`: only waits in (0, maxMs] count. Default: any wait from 0 up.
 * @returns `undefined` if the server asks for no wait, or for one that does not count.
 */
export function retryAfterMs(headers: Headers, nowMs: number, options: { readonly maxMs?: number | undefined } = {}): number | undefined {
  const askedMs = readWaitMs(headers['retry-after-ms']?.trim(), headers['retry-after']?.trim(), nowMs);
  if (askedMs === undefined || !Number.isFinite(askedMs) || askedMs < 0) return undefined;
  if (options.maxMs === undefined) return askedMs;
  return askedMs > 0 && askedMs <= options.maxMs ? askedMs : undefined;
}

function readWaitMs(milliseconds: string | undefined, after: string | undefined, nowMs: number): number | undefined {
  if (milliseconds !== undefined && NUMBER.test(milliseconds)) return Number(milliseconds);
  if (after === undefined) return undefined;
  if (NUMBER.test(after)) return Number(after) * 1_000;
  // Only text with the name of a month is a date: `Date.parse` reads much else as one.
  return /[a-z]{3}/i.test(after) ? Date.parse(after) - nowMs : undefined;
}
