/** Headers that are safe to keep on errors, in events and in recordings. Every other header's value is replaced. */
export const SAFE_HEADERS: readonly string[] = [
  'accept',
  'accept-encoding',
  'allow',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'expires',
  'host',
  'idempotency-key',
  'range',
  'retry-after',
  'retry-after-ms',
  'server',
  'traceparent',
  'transfer-encoding',
  'user-agent',
  'vary',
  'x-idempotency-key',
  'x-request-id',
  'x-should-retry',
  'x-stainless-async',
  'x-stainless-arch',
  'x-stainless-os',
  'x-stainless-package-version',
  'x-stainless-raw-response',
  'x-stainless-read-timeout',
  'x-stainless-retry-count',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-tinker-create-promise-roundtrip-time',
  'x-tinker-request-iteration',
  'x-tinker-request-type',
  'x-tinker-sampling-backpressure',
];

const SAFE = new Set(SAFE_HEADERS);

/** What stands in place of a value that is not shown. */
export const REDACTED = '[redacted]';

/** A copy with lower-case names, in which only the headers of {@link SAFE_HEADERS} keep their values. */
export function keepSafeHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    kept.push([lower, SAFE.has(lower) ? value : REDACTED]);
  }
  return Object.fromEntries(kept);
}

/** Removes API keys, JSON Web Tokens and the query of URLs (signatures live there) from text that will be shown. */
export function redactSecrets(text: string): string {
  return text
    .replace(/\btml-[\w-]{4,}/g, `tml-${REDACTED}`)
    .replace(/\beyJ[\w-]{4,}(?:\.[\w-]*){0,2}/g, REDACTED)
    .replace(/(\bhttps?:\/\/)[^\s/@"'<>]+@/gi, '$1')
    .replace(/(\bhttps?:\/\/[^\s?"'<>]+)\?[^\s"'<>]*/gi, `$1?${REDACTED}`);
}
