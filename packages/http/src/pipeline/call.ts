import type { RetryInfo } from '../retry/retry-stage.js';
import type { TransportBody } from '../transport/transport.js';

/** One call on its way through the pipeline. Stages change it in place; nobody outside the pipeline sees it. */
export interface Call {
  readonly method: string;
  /** Below the base URL, without the query. */
  readonly path: string;
  readonly url: string;
  readonly pool: string;
  /** As the caller named it; see `requestTypeOf`. */
  readonly requestType: string | undefined;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  readonly compress: 'zstd' | undefined;
  readonly maxRetries: number;
  /** Limit of one attempt, milliseconds. */
  readonly timeoutMs: number;
  /** When the whole call must be over, on the injected clock. `Infinity` without a limit. */
  readonly totalDeadlineAtMs: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly isStream: boolean;
  readonly redirect: 'follow' | 'manual';
  /** Statuses besides 2xx that are answers, not failures. */
  readonly acceptStatus: readonly number[] | undefined;
  readonly onRetry: ((retry: RetryInfo) => void) | undefined;
  /** The current attempt, from 0. */
  attempt: number;
  /** Time spent waiting between attempts, milliseconds. */
  retryDelayMs: number;
}

/** What came back: read to its end, or still to be read when the call asked for a stream and got a success. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly stream?: TransportBody;
}

/** The name of the work in events: the caller's, else method and path. */
export function requestTypeOf({ requestType, method, path }: Call): string {
  return requestType ?? `${method} ${path}`;
}

/** True for 2xx and for the statuses that the call accepts. */
export function isAnswer(call: Call, status: number): boolean {
  return (status >= 200 && status < 300) || (call.acceptStatus?.includes(status) ?? false);
}
