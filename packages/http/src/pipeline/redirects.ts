import { ConnectionError } from '@tinkex/types';
import type { TransportRequest, TransportResponse } from '../transport/transport.js';
import { originOf } from '../url/join-url.js';
import type { Send } from './middleware.js';

const MAX_REDIRECTS = 5;

/** All that a foreign origin may learn. Everything else, above all the credential, stays behind. */
const TRAVELLING_HEADERS = ['accept', 'accept-encoding', 'range', 'user-agent'] as const;

/** Where a response points, if it may be followed there: reads anywhere, writes (307, 308) inside their origin. */
export function redirectTarget({ method, url }: TransportRequest, { status, headers }: TransportResponse): URL | undefined {
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
  if (method === 'GET' || method === 'HEAD') return target;
  return (status === 307 || status === 308) && target.origin === new URL(url).origin ? target : undefined;
}

/**
 * Follows redirects to their end. Once a chain has left its origin it stays outside, even if it leads back: the request has been
 * in foreign hands, and so may be its target.
 */
export async function followRedirects(
  first: TransportRequest,
  firstResponse: TransportResponse,
  inside: Send,
  outside: Send,
): Promise<TransportResponse> {
  const home = new URL(first.url).origin;
  let request = first;
  let response = firstResponse;
  let isHome = true;
  for (let count = 0; ; count += 1) {
    const target = redirectTarget(request, response);
    if (target === undefined) return response;
    response.body.cancel();
    if (count === MAX_REDIRECTS) {
      throw new ConnectionError({ message: `${originOf(first.url)} redirected more than ${MAX_REDIRECTS} times.`, isRetryable: false });
    }
    if (isHome && target.origin !== home) {
      isHome = false;
      request = { ...request, headers: travellingHeaders(request.headers) };
    }
    request = { ...request, url: target.href };
    response = await (isHome ? inside : outside)(request);
  }
}

function travellingHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of TRAVELLING_HEADERS) {
    const value = headers[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
