import { ConnectionError } from '@tinkex/types';
import type { Send, TransportRequest, TransportResponse } from '../transport/transport.js';
import { originOf } from '../url/url.js';

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** The only headers that another origin receives. Everything else, above all the credential, is removed. */
const HARMLESS_HEADERS = ['accept', 'accept-encoding', 'range', 'user-agent'] as const;

/** Where a response points, if it may be followed there: reads anywhere, writes (307, 308) inside their origin. */
export function redirectTarget({ method, url }: TransportRequest, { status, headers }: TransportResponse): URL | undefined {
  const { location } = headers;
  // A location that is not a URL leads nowhere: the caller gets the 3xx.
  if (location === undefined || !REDIRECTS.includes(status) || !URL.canParse(location, url)) return undefined;
  const target = new URL(location, url);
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return undefined;
  if (method === 'GET' || method === 'HEAD') return target;
  return (status === 307 || status === 308) && target.origin === new URL(url).origin ? target : undefined;
}

/**
 * Follows redirects to their end. A chain that has left its origin stays outside, even if it leads back: another origin may
 * have chosen its target.
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
    if (target.protocol === 'http:' && request.url.startsWith('https:')) {
      const message = `${originOf(request.url)} redirected to an address without TLS, which was not followed.`;
      throw new ConnectionError({ message, isRetryable: false });
    }
    if (count === MAX_REDIRECTS) {
      throw new ConnectionError({ message: `${originOf(first.url)} redirected more than ${MAX_REDIRECTS} times.`, isRetryable: false });
    }
    if (isHome && target.origin !== home) {
      isHome = false;
      request = { ...request, headers: harmlessHeaders(request.headers) };
    }
    request = { ...request, url: target.href };
    response = await (isHome ? inside : outside)(request);
  }
}

function harmlessHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of HARMLESS_HEADERS) {
    const value = headers[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
