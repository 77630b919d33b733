import { keepSafeHeaders, REDACTED } from '@tinkex/types/wire';

/** A copy of the headers with every value hidden that is not on the allow list of `@tinkex/types`. */
export function redactedHeaders(headers: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return keepSafeHeaders(
    Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
  );
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
