import type { RawResponse } from '@tinkex/http';
import { ApiStatusError, ConnectionError, type JsonValue, ValidationError } from '@tinkex/types';
import { apiStatusError, parseJson } from '@tinkex/types/wire';
import type { PollAnswer } from './poll-decision.js';

const decoder = new TextDecoder();

/** Sorts a response that arrived whole: a success, or the one status the loop asked to see for itself. */
export function answerOfResponse({ status, headers, bytes, requestId }: RawResponse): PollAnswer {
  if (status >= 200 && status < 300) return { kind: 'success', contentType: headers['content-type'] ?? '', bytes };
  const error = apiStatusError({
    status,
    headers,
    body: bodyOf(bytes),
    requestId,
    method: 'POST',
    path: '/api/v1/retrieve_future',
  });
  return { kind: 'refusal', error };
}

/**
 * Sorts what the HTTP layer threw. An empty 400 comes as a fault, by its rule for proxies that refuse a connection. Errors that are no answer at all,
 * such as a bug or a bad credential, are thrown on.
 */
export function answerOfError(error: unknown): PollAnswer {
  if (ApiStatusError.isInstance(error)) return { kind: 'refusal', error };
  if (ConnectionError.isInstance(error)) return { kind: 'fault', error };
  throw error;
}

function bodyOf(bytes: Uint8Array): JsonValue {
  if (bytes.byteLength === 0) return '';
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!ValidationError.isInstance(error)) throw error;
    // A proxy's error page: its text is the best there is.
    return decoder.decode(bytes).trim();
  }
}
