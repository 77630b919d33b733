import { type ApiStatusError, type JsonObject, RequestFailedError } from '@tinkex/types';
import { requestFailedResponse } from '@tinkex/types/wire';

/** Statuses with which some servers tell that the operation, not the poll, has failed. */
const FAILURE_STATUSES: ReadonlySet<number> = new Set([400, 404, 409, 422]);

/** Whether a 2xx JSON answer says that the operation failed. */
export function isFailure(body: JsonObject): boolean {
  return body['type'] === 'request_failed' || (body['error'] !== undefined && body['error'] !== null);
}

/** The error of a 2xx answer for which {@link isFailure} holds. */
export function failureOfAnswer(body: JsonObject, requestId: string, requestType: string): RequestFailedError {
  return new RequestFailedError({
    message: `${requestType} failed on the server: ${messageIn(body) ?? 'no reason given'}`,
    category: requestFailedResponse.decode(body).category,
    requestId,
  });
}

/**
 * The error of a final status. 400, 404, 409 and 422 are how some servers report a failed operation, so they become a
 * `RequestFailedError` with the status as its cause; every other status is thrown as it is.
 */
export function failureOfStatus(error: ApiStatusError, requestId: string, requestType: string): ApiStatusError | RequestFailedError {
  if (!FAILURE_STATUSES.has(error.status)) return error;
  const body = asObject(error.body);
  return new RequestFailedError({
    message: `${requestType} failed on the server (status ${error.status}): ${messageIn(body) ?? 'no reason given'}`,
    category: requestFailedResponse.decode(body ?? {}).category,
    requestId,
    cause: error,
  });
}

/** A JSON object, or undefined for anything else. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

function messageIn(body: JsonObject | undefined): string | undefined {
  for (const key of ['error', 'error_message', 'detail', 'message'] as const) {
    const value = body?.[key];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  }
  return undefined;
}
