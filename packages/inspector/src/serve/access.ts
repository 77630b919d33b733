import { createHash, timingSafeEqual } from 'node:crypto';
import { isAllowedHost } from '@tinkex/http/server';
import { plainResponse } from './responses.js';

/** Whom the inspector answers. */
export interface AccessRules {
  /** The first segment of every path; undefined if none is needed. */
  readonly token: string | undefined;
  /** Host names besides the loopback ones. */
  readonly allowedHosts: readonly string[];
}

/** The path below the token, or why the request is refused. */
export type Access = { readonly path: string; readonly refusal?: undefined } | { readonly refusal: Response };

/**
 * Lets in what the user's own browser asks for, and nothing else. Another site can make a browser send requests here, but it knows neither the token nor can it use
 * one of this server's names, and the browser says where its requests come from.
 */
export function checkAccess(request: Request, { token, allowedHosts }: AccessRules): Access {
  const { pathname, host, origin } = new URL(request.url);
  if (!isAllowedHost(request.headers.get('host') ?? host, allowedHosts))
    return refuse('The inspector does not answer under that host name.');
  const from = request.headers.get('origin');
  if (from !== null && from !== origin) return refuse('The inspector answers only its own page.');
  if (isForeignFetch(request.headers)) return refuse('The inspector answers only its own page.');
  if (token === undefined) return { path: pathname };
  const [, given = '', ...rest] = pathname.split('/');
  if (!isSame(given, token)) return refuse('The token in this address is wrong or missing. Open the address that the program printed.');
  // Without the slash, the page would look for its files in the wrong place.
  if (rest.length === 0) return { refusal: new Response(null, { status: 307, headers: { location: `/${token}/` } }) };
  return { path: `/${rest.join('/')}` };
}

/** Browsers say what started a request. A link that the user clicked is fine; a request by the code of another page is not. */
function isForeignFetch(headers: Headers): boolean {
  const site = headers.get('sec-fetch-site');
  const isOurs = site === null || site === 'same-origin' || site === 'none';
  return !isOurs && headers.get('sec-fetch-mode') !== 'navigate';
}

function refuse(why: string): Access {
  return { refusal: plainResponse(403, why) };
}

function isSame(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
