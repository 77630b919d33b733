/**
 * How long the server asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` as seconds (whole or not) or as an
 * HTTP date. Undefined when it asks for nothing, or for something that is no time from now on. Not capped.
 *
 * @param headers Lower-case names.
 * @param nowMs The current time in Unix milliseconds, for HTTP dates.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const milliseconds = plainNumber(headers['retry-after-ms']);
  if (milliseconds !== undefined) return milliseconds;
  const text = headers['retry-after'];
  const seconds = plainNumber(text);
  if (seconds !== undefined) return seconds * 1000;
  // A date is only a date with a month's name in it: `Date.parse` would read "-5" as a month.
  if (text === undefined || !/[a-z]{3}/i.test(text)) return undefined;
  const wait = Date.parse(text) - nowMs;
  return wait >= 0 ? wait : undefined;
}

function plainNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+(?:\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}
