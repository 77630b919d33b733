import type { ApiStatusError } from '@tinkex/types';
import { apiStatusError, hideKnownSecrets, parseJson } from '@tinkex/types/wire';
import { type Call, type Reply, requestIdOf } from '../call/call.js';
import type { RequestOptions } from '../call/request-options.js';
import { unusableResponse } from '../transport/unusable-response.js';

const DECODER = new TextDecoder();

/** How a call reads its reply. */
export type ReplyReader<T> = Pick<RequestOptions<T>, 'parse' | 'schema'>;

/** Makes the caller's value from a reply that counts as a success. */
export function readReply<T>({ status, headers, bytes }: Reply, { parse, schema }: ReplyReader<T>): T {
  if (parse !== undefined) return parse({ status, headers, bytes, requestId: requestIdOf(headers) });
  const contentType = headers['content-type'];
  if (schema === undefined) return looseValue(bytes, contentType) as T;
  if (bytes.byteLength === 0) throw unusableResponse(`The response with status ${status} has no body. JSON was expected.`);
  if (contentType !== undefined && !isJson(contentType)) {
    throw unusableResponse(`The response has the content type ${contentType.replace(/;.*/, '').trim()}. JSON was expected.`);
  }
  return schema.decode(parseJson(bytes));
}

/** Without a schema: JSON where the server says so, text otherwise, `undefined` for no body. */
function looseValue(bytes: Uint8Array, contentType: string | undefined): unknown {
  if (bytes.byteLength === 0) return undefined;
  return isJson(contentType) ? parseJson(bytes) : DECODER.decode(bytes);
}

/** The error of a reply that does not count as a success. */
export function statusError({ status, headers, bytes }: Reply, { attempt, method, path }: Call, nowMs: number): ApiStatusError {
  const body = errorBody(bytes);
  const shown = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, hideKnownSecrets(value)]));
  return apiStatusError({ status, headers: shown, body, requestId: requestIdOf(headers), attempts: attempt + 1, method, path, nowMs });
}

/** Parsed JSON, or trimmed text; the empty string for an empty body. */
function errorBody(bytes: Uint8Array): unknown {
  const text = DECODER.decode(bytes).trim();
  try {
    return text === '' ? text : parseJson(text);
  } catch {
    // An error page of a proxy: its text is all there is.
    return text;
  }
}

const FULL_BUDGET = 16;

/**
 * The rule of the empty 400: an edge proxy that refuses a connection answers 400 without a body. Such a response says nothing
 * about the request, so it becomes a connection error, at most 16 times more often than there are successes in the same pool.
 */
export class EdgeRejections {
  readonly #budgets = new Map<string, number>();

  /** Returns one rejection to the pool's budget. */
  succeeded(pool: string): void {
    const budget = this.#budgets.get(pool);
    if (budget === undefined) return;
    if (budget + 1 >= FULL_BUDGET) this.#budgets.delete(pool);
    else this.#budgets.set(pool, budget + 1);
  }

  /** True when the reply counts as a broken connection; then it takes one from the pool's budget. */
  isRejection(pool: string, reply: Reply): boolean {
    const budget = this.#budgets.get(pool) ?? FULL_BUDGET;
    if (budget <= 0 || !isEmptyBadRequest(reply)) return false;
    this.#budgets.set(pool, budget - 1);
    return true;
  }
}

/** Without a length the body decides: JSON of an application is a real answer even when it arrives in chunks. */
function isEmptyBadRequest({ status, headers, bytes }: Reply): boolean {
  if (status !== 400) return false;
  const length = headers['content-length'];
  return length === undefined ? bytes.byteLength === 0 || !isJson(headers['content-type']) : Number(length) === 0;
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.includes('json') ?? false;
}
