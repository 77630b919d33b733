import { type RawResponse, sleep } from '@tinkex/http';
import { type CheckpointArchiveUrlResponse, ServerError, ValidationError } from '@tinkex/types';
import { apiStatusError, checkpointArchiveUrlResponse, parseJson } from '@tinkex/types/wire';
import type { CallStep } from '../runtime/call-options.js';
import type { Connection } from '../service/connection.js';

const BUILDING_PAUSE_MS = 30_000;
const MAX_BUILDING_ATTEMPTS = 6;
const DEFAULT_LIFETIME_MS = 15 * 60_000;
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * Asks for the signed URL of a checkpoint's archive. While the server builds the archive (503) it is asked again every 30 s, six
 * times in all; then the usual retry rules apply.
 */
export function archiveUrl(connection: Connection, path: string, step: CallStep): Promise<CheckpointArchiveUrlResponse> {
  const { signal } = step;
  return connection.retry(() => askUntilBuilt(connection, path, step), { operation: 'checkpointArchive', signal });
}

async function askUntilBuilt(connection: Connection, path: string, { signal, headers }: CallStep): Promise<CheckpointArchiveUrlResponse> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connection.http.request({
        method: 'GET',
        path,
        pool: 'rest_support_redirect',
        redirect: 'manual',
        acceptStatus: REDIRECTS,
        parse: (raw) => readArchiveAnswer(raw, connection),
        signal,
        requestType: 'checkpointArchive',
        ...(headers === undefined ? {} : { headers }),
      });
    } catch (error) {
      const isBuilding = ServerError.isInstance(error) && error.status === 503;
      if (!isBuilding || attempt >= MAX_BUILDING_ATTEMPTS) throw error;
    }
    await sleep(connection.clock, BUILDING_PAUSE_MS, signal);
  }
}

function readArchiveAnswer({ status, headers, bytes }: RawResponse, { baseUrl, clock }: Connection): CheckpointArchiveUrlResponse {
  if (status >= 200 && status < 300) return checkpointArchiveUrlResponse.decode(parseJson(bytes));
  const location = headers['location'];
  if (location === undefined)
    throw apiStatusError({ status, headers, body: 'The redirect names no Location.', method: 'GET', path: '(checkpoint archive)' });
  const expiresMs = Date.parse(withZone(headers['expires']));
  return {
    url: absoluteUrl(location, baseUrl),
    expires: new Date(Number.isNaN(expiresMs) ? clock.now() + DEFAULT_LIFETIME_MS : expiresMs),
  };
}

/** A date without a zone counts as UTC, not as the machine's local time. Text without a year, such as the `0` of caches, is no date. */
function withZone(date: string | undefined): string {
  if (date === undefined || !/\d{4}/.test(date)) return '';
  return /(?:[zZ]|GMT|UTC|[+-]\d{2}:?\d{2})$/.test(date.trim()) ? date : `${date.trim()}${date.includes('T') ? 'Z' : ' UTC'}`;
}

function absoluteUrl(location: string, baseUrl: string): string {
  const url = URL.canParse(location, baseUrl) ? new URL(location, baseUrl) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.href;
  const issues = [{ path: 'Location', message: 'is not an http or https URL' }];
  throw new ValidationError({ direction: 'response', subject: 'CheckpointArchiveUrlResponse', issues });
}
