import { ConnectionError } from '@tinkex/types';
import type { TransportRequest, TransportResponse } from '../transport/transport.js';
import { originOf } from '../url/join-url.js';
import type { Middleware, Send } from './middleware.js';

const MAX_REDIRECTS = 5;

/** All that a foreign origin may learn. Everything else, above all the credential, stays behind. */
const TRAVELLING_HEADERS = ['accept', 'accept-encoding', 'range', 'user-agent'] as const;

/** Follows redirects of reads anywhere, and of writes (307, 308) inside their origin. Headers do not leave the origin. */
export const redirectStage: Middleware = (request, next) =>
  next(request).then((response) => {
    if (response.status < 300 || response.status >= 400 || request.redirect === 'manual') return response;
    return follow(request, response, next);
  });

async function follow(first: TransportRequest, firstResponse: TransportResponse, next: Send): Promise<TransportResponse> {
  let request = first;
  let response = firstResponse;
  for (let count = 0; ; count += 1) {
    const target = redirectTarget(request, response);
    if (target === undefined) return response;
    response.body.cancel();
    if (count === MAX_REDIRECTS) {
      throw new ConnectionError({ message: `${originOf(first.url)} redirected more than ${MAX_REDIRECTS} times.`, isRetryable: false });
    }
    request = redirected(request, target);
    response = await next(request);
  }
}

/** Where the response points, if it may be followed there. */
function redirectTarget({ method, url }: TransportRequest, { status, headers }: TransportResponse): string | undefined {
  const { location } = headers;
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return undefined;
  let target: URL;
  try {
    target = new URL(location, url);
  } catch {
    // A location that is no URL leads nowhere: the caller sees the 3xx itself.
    return undefined;
  }
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return undefined;
  if (method === 'GET' || method === 'HEAD') return target.href;
  return (status === 307 || status === 308) && target.origin === new URL(url).origin ? target.href : undefined;
}

function redirected(request: TransportRequest, url: string): TransportRequest {
  const { method, pool, body, signal, cancellation, progress } = request;
  const headers = new URL(url).origin === new URL(request.url).origin ? request.headers : travellingHeaders(request.headers);
  return {
    method,
    url,
    headers,
    pool,
    ...(body === undefined ? {} : { body }),
    ...(cancellation === undefined ? {} : { cancellation }),
    ...(signal === undefined ? {} : { signal }),
    ...(progress === undefined ? {} : { progress }),
  };
}

function travellingHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of TRAVELLING_HEADERS) {
    const value = headers[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
