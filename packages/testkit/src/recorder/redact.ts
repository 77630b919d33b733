/** Headers whose values are safe to show; every other value is replaced. */
const shownHeaders = new Set([
  'accept',
  'accept-encoding',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expires',
  'host',
  'range',
  'content-range',
  'retry-after',
  'retry-after-ms',
  'traceparent',
  'transfer-encoding',
  'user-agent',
  'x-idempotency-key',
  'x-should-retry',
  'x-stainless-arch',
  'x-stainless-async',
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
]);

/** What stands in place of a hidden value. */
export const REDACTED = '[redacted]';

/** A copy of the headers with every value hidden that is not on the allow list. */
export function redactedHeaders(headers: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const copy: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) {
      copy[name] = shownHeaders.has(name) ? value : REDACTED;
    }
  }
  return copy;
}

/** The path without what makes a signed URL work. */
export function redactedTarget(target: string): string {
  return target.replace(/([?&](?:signature|token)=)[^&]*/g, `$1${REDACTED}`);
}

/** A decoded request without the credentials it carries. */
export function redactedRequest(request: unknown): unknown {
  if (typeof request === 'object' && request !== null && 'weightsAccessToken' in request && request.weightsAccessToken !== undefined) {
    return { ...request, weightsAccessToken: REDACTED };
  }
  return request;
}
