import { normalizeBaseUrl } from '@tinkex/http';
import type { EventSource } from '@tinkex/types';

/** Which clients a consumer listens to. All conditions that are set must hold; without any, it listens to every client of the process. */
export interface SourceFilter {
  /** Only the client with this ID, or the clients with these IDs. */
  readonly clientId?: string | readonly string[] | undefined;
  /** Only clients of this base URL. Compared after normalization: letter case, default port and trailing slash do not matter. */
  readonly baseUrl?: string | undefined;
  /** Only events whose source passes. A filter that throws counts as an error and lets nothing through. */
  readonly filter?: ((source: EventSource) => boolean) | undefined;
}

const MAX_REMEMBERED_URLS = 1_000;

/** Compiles a filter into one predicate; `undefined` means that everything passes. */
export function sourcePredicate({ clientId, baseUrl, filter }: SourceFilter): ((source: EventSource) => boolean) | undefined {
  const ids = clientId === undefined ? undefined : new Set(typeof clientId === 'string' ? [clientId] : clientId);
  const hasBaseUrl = baseUrl === undefined ? undefined : baseUrlPredicate(baseUrl);
  if (ids === undefined && hasBaseUrl === undefined && filter === undefined) return undefined;
  return (source) =>
    (ids === undefined || ids.has(source.clientId)) &&
    (hasBaseUrl === undefined || hasBaseUrl(source.baseUrl)) &&
    (filter === undefined || filter(source));
}

function baseUrlPredicate(baseUrl: string): (candidate: string) => boolean {
  const wanted = normalizeBaseUrl(baseUrl);
  // Events repeat the same few URLs, so each is normalized once. Bounded, because a process may talk to many servers.
  const answers = new Map<string, boolean>();
  return (candidate) => {
    const known = answers.get(candidate);
    if (known !== undefined) return known;
    if (answers.size >= MAX_REMEMBERED_URLS) answers.clear();
    const answer = candidate === wanted || normalizeBaseUrl(candidate) === wanted;
    answers.set(candidate, answer);
    return answer;
  };
}
