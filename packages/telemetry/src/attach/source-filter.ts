import { normalizeBaseUrl } from '@tinkex/http';
import type { EventSource } from '@tinkex/types';

/** Which clients a consumer listens to. All that are set must hold; with none set it listens to every client of the process. */
export interface SourceFilter {
  /** Only the client with this id, or the clients with these ids. */
  readonly clientId?: string | readonly string[];
  /** Only clients of this base URL. Compared normalised: letter case, default port and trailing slash do not matter. */
  readonly baseUrl?: string;
  /** Only events whose source passes. A filter that throws passes nothing and counts as an error. */
  readonly filter?: (source: EventSource) => boolean;
}

/** Compiles a filter into one predicate; `undefined` means that everything passes. */
export function sourcePredicate(options: SourceFilter): ((source: EventSource) => boolean) | undefined {
  const { clientId, baseUrl, filter } = options;
  const ids = clientId === undefined ? undefined : new Set(typeof clientId === 'string' ? [clientId] : clientId);
  const sameBaseUrl = baseUrl === undefined ? undefined : baseUrlPredicate(baseUrl);
  if (ids === undefined && sameBaseUrl === undefined && filter === undefined) return undefined;
  return (source) =>
    (ids === undefined || ids.has(source.clientId)) &&
    (sameBaseUrl === undefined || sameBaseUrl(source.baseUrl)) &&
    (filter === undefined || filter(source));
}

function baseUrlPredicate(baseUrl: string): (candidate: string) => boolean {
  const wanted = normalizeBaseUrl(baseUrl);
  // Events repeat the same few strings: normalise each once. Bounded, because a process may talk to many servers.
  const answers = new Map<string, boolean>();
  return (candidate) => {
    const known = answers.get(candidate);
    if (known !== undefined) return known;
    if (answers.size >= 1_000) answers.clear();
    const answer = candidate === wanted || normalizeBaseUrl(candidate) === wanted;
    answers.set(candidate, answer);
    return answer;
  };
}
