import type { ApiStatusError } from '@tinkex/types';
import { apiStatusError, parseJson } from '@tinkex/types/wire';
import type { Call, Reply } from '../pipeline/call.js';
import { requestIdOf } from '../pipeline/request-id.js';
import { unusableResponse } from '../transport/unusable-response.js';
import type { RawResponse, RequestOptions } from './request-options.js';

const decoder = new TextDecoder();

/** Makes the caller's value from a reply that counts as a success. */
export function readReply<T>(reply: Reply, options: RequestOptions<T>): T {
  if (options.parse !== undefined) return options.parse(rawResponse(reply));
  if (options.schema !== undefined) return options.schema.decode(jsonOf(reply));
  return looseValue(reply) as T;
}

function rawResponse({ status, headers, bytes }: Reply): RawResponse {
  const requestId = requestIdOf(headers);
  return requestId === undefined ? { status, headers, bytes } : { status, headers, bytes, requestId };
}

/** The JSON of a reply that must be JSON. */
function jsonOf({ status, headers, bytes }: Reply): unknown {
  const contentType = headers['content-type'];
  if (bytes.byteLength === 0) throw unusableResponse(`The response with status ${status} has no body where JSON was expected.`);
  if (contentType !== undefined && !isJsonType(contentType)) {
    throw unusableResponse(`The response has the content type ${mediaType(contentType)} where JSON was expected.`);
  }
  return parseJson(bytes);
}

/** Without a schema: JSON where the server says so, text otherwise, `undefined` for no body. */
function looseValue({ headers, bytes }: Reply): unknown {
  if (bytes.byteLength === 0) return undefined;
  return isJsonType(headers['content-type'] ?? '') ? parseJson(bytes) : decoder.decode(bytes);
}

/** The error of a reply that does not count as a success. */
export function statusError(reply: Reply, call: Call, nowMs: number): ApiStatusError {
  const { status, headers, bytes } = reply;
  return apiStatusError({
    status,
    headers,
    body: errorBody(bytes),
    requestId: requestIdOf(headers),
    attempts: call.attempt + 1,
    method: call.method,
    path: call.path,
    nowMs,
  });
}

/** Parsed JSON, or trimmed text; the empty text for an empty body. */
function errorBody(bytes: Uint8Array): unknown {
  const text = decoder.decode(bytes).trim();
  if (text === '') return '';
  try {
    return parseJson(text);
  } catch {
    // An error page of a proxy. Its text is the best there is.
    return text;
  }
}

function isJsonType(contentType: string): boolean {
  return contentType.includes('json');
}

function mediaType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim();
}
