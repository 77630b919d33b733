import { type HttpClient, type RawResponse, type RetryStrategy, retry } from '@tinkex/http';
import { type CheckpointArchiveUrlResponse, ConfigurationError, ValidationError } from '@tinkex/types';
import { apiStatusError, checkpointArchiveUrlResponse, endpoints, parseJson } from '@tinkex/types/wire';
import { type EndpointCaller, fillPath } from '../calls/endpoint-caller.js';
import type { CallStep } from '../runtime/call-options.js';
import type { Runtime } from '../runtime/runtime.js';

const BUILDING_PAUSE_MS = 30_000;
const MAX_BUILDING_ATTEMPTS = 6;
const DEFAULT_LIFETIME_MS = 15 * 60_000;
const REDIRECTS = [301, 302, 303, 307, 308];

/** What requesting an archive's URL uses of its client. */
export interface ArchiveUrlParts {
  readonly runtime: Pick<Runtime, 'clock' | 'source'>;
  readonly http: HttpClient;
  readonly calls: EndpointCaller;
}

/** The strategy while the server builds an archive (503): requests it again every 30 s, six times in total. */
const buildingStrategy: RetryStrategy = ({ status, failures }) =>
  status === 503 && failures < MAX_BUILDING_ATTEMPTS - 1 ? BUILDING_PAUSE_MS : undefined;

/** Requests the signed URL of a checkpoint's archive. Waits while the server builds it; after that the usual retry rules apply. */
export function requestArchiveUrl(parts: ArchiveUrlParts, path: string, step: CallStep): Promise<CheckpointArchiveUrlResponse> {
  const { clock } = parts.runtime;
  const { signal } = step;
  const requestUntilBuilt = () => retry(() => requestOnce(parts, path, step), { strategies: [buildingStrategy], clock, signal });
  return parts.calls.retry(requestUntilBuilt, { operation: 'checkpointArchive', signal });
}

function requestOnce(
  { http, runtime }: ArchiveUrlParts,
  path: string,
  { signal, headers }: CallStep,
): Promise<CheckpointArchiveUrlResponse> {
  return http.request({
    method: 'GET',
    path,
    pool: 'rest_support_redirect',
    redirect: 'manual',
    acceptStatus: REDIRECTS,
    parse: (raw) => readArchiveAnswer(raw, runtime.source().baseUrl, runtime.clock.wallMs()),
    signal,
    requestType: 'checkpointArchive',
    headers,
  });
}

/** The path of a checkpoint's archive. Values are inserted unescaped, so a checkpoint ID keeps its slash. */
export function checkpointArchivePath(trainingRunId: string, checkpointId: string): string {
  for (const [option, value] of Object.entries({ trainingRunId, checkpointId })) {
    if (value === '' || value.endsWith('/'))
      throw new ConfigurationError({ message: `The ${option} ${JSON.stringify(value)} is incomplete.`, option });
  }
  return fillPath(endpoints.checkpointArchive.path, { trainingRunId, checkpointId });
}

function readArchiveAnswer({ status, headers, bytes }: RawResponse, baseUrl: string, nowMs: number): CheckpointArchiveUrlResponse {
  if (status >= 200 && status < 300) return checkpointArchiveUrlResponse.decode(parseJson(bytes));
  const location = headers['location'];
  if (location === undefined)
    throw apiStatusError({ status, headers, body: 'The redirect names no Location.', method: 'GET', path: '(checkpoint archive)' });
  const expiresMs = Date.parse(withZone(headers['expires']));
  return {
    url: absoluteUrl(location, baseUrl),
    expires: new Date(Number.isNaN(expiresMs) ? nowMs + DEFAULT_LIFETIME_MS : expiresMs),
  };
}

/** A date without a zone counts as UTC, not as local time. Text without a year, such as the `0` of caches, is not a date. */
function withZone(date: string | undefined): string {
  if (date === undefined || !/\d{4}/.test(date)) return '';
  return /(?:[zZ]|GMT|UTC|[+-]\d{2}:?\d{2})$/.test(date.trim()) ? date : `${date.trim()}${date.includes('T') ? 'Z' : ' UTC'}`;
}

function absoluteUrl(location: string, baseUrl: string): string {
  const url = URL.canParse(location, baseUrl) ? new URL(location, baseUrl) : undefined;
  // A server without downloads may name a place on its own disk.
  if (url?.protocol === 'https:' || url?.protocol === 'http:' || url?.protocol === 'file:') return url.href;
  const issues = [{ path: 'Location', message: 'is not an http, https or file URL' }];
  throw new ValidationError({ direction: 'response', subject: 'CheckpointArchiveUrlResponse', issues });
}
