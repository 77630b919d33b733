import type { Transport, TransportResponse } from '@tinkex/http';
import { ConnectionError } from '@tinkex/types';

const MAX_REDIRECTS = 5;

/** What has been fetched so far, and how to recognize the same file. */
export interface RangeRequest {
  readonly url: string;
  /** First byte wanted. */
  readonly offset: number;
  /** The entity tag or date of the bytes already here. */
  readonly validator?: string | undefined;
  /** The `Authorization` header. Sent to the origin of the URL only, not to where it redirects. Default: none; signed URLs contain a credential. */
  readonly authorization?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Requests a file from `offset` on. Follows a few redirects, never from https to http.
 */
export async function fetchRange(transport: Transport, request: RangeRequest): Promise<TransportResponse> {
  const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' };
  if (request.offset > 0) {
    headers['range'] = `bytes=${request.offset}-`;
    if (request.validator !== undefined) headers['if-range'] = request.validator;
  }
  if (request.authorization !== undefined) headers['authorization'] = request.authorization;
  let url = httpUrl(request.url);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await transport.send({
      method: 'GET',
      url: url.href,
      headers: { ...headers },
      pool: 'download',
      signal: request.signal,
    });
    const location = response.headers['location'];
    if (response.status < 300 || response.status >= 400 || response.status === 304 || location === undefined) return response;
    response.body.cancel();
    const next = httpUrl(location, url);
    if (url.protocol === 'https:' && next.protocol !== 'https:') {
      throw refused('The download was redirected from https to http; refused.');
    }
    if (next.origin !== url.origin) delete headers['authorization'];
    url = next;
  }
  throw refused(`The download was redirected more than ${MAX_REDIRECTS} times.`);
}

function httpUrl(text: string, base?: URL): URL {
  // Checked first, not caught: the engine's error quotes the URL and its base, and both are signed.
  if (!URL.canParse(text, base?.href)) throw refused('The server named a download address that is not a URL.');
  const url = new URL(text, base);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw refused(`The server named a download address with the scheme ${url.protocol}; only http and https are followed.`);
}

/** The server would name the same address again: another attempt is of no use. */
function refused(message: string): ConnectionError {
  return new ConnectionError({ message, isRetryable: false });
}

/** The first byte, and the total if named, of a `Content-Range` header; undefined when it is missing or not understood. */
export function parseContentRange(header: string | undefined): { readonly start: number; readonly total: number | undefined } | undefined {
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(header ?? '');
  if (!match) return undefined;
  return { start: Number(match[1]), total: match[2] === '*' ? undefined : Number(match[2]) };
}

/** What identifies the version of a file for `If-Range`: a strong entity tag, else the date. */
export function rangeValidator(headers: Readonly<Record<string, string>>): string | undefined {
  const tag = headers['etag'];
  return tag !== undefined && !tag.startsWith('W/') ? tag : headers['last-modified'];
}
