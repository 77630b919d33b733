import type { EventSource } from '@tinkex/types';
import type { AuthProvider } from '../auth/auth-provider.js';
import type { Clock } from '../clock/clock.js';
import type { Random } from '../clock/random.js';
import type { Middleware } from '../pipeline/middleware.js';
import type { Transport } from '../transport/transport.js';
import type { Query } from '../url/encode-query.js';

/** Options of `HttpClient`. */
export interface HttpClientOptions {
  /** Absolute http(s) URL; its own path is kept in front of each call's path. */
  readonly baseUrl: string;
  /** Default: no credential. Closed together with the client. */
  readonly auth?: AuthProvider;
  /** Default: a new `UndiciTransport`, closed together with the client. One that you pass in is yours to close. */
  readonly transport?: Transport;
  /** Your own layers around each attempt, the first outermost. */
  readonly middleware?: readonly Middleware[];
  /** Sent with each call. Any letter case; a call's own headers win. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with each call; a call's own query wins by name. */
  readonly query?: Query;
  /** Attempts after the first. Default 10. */
  readonly maxRetries?: number;
  /** Limit of one attempt, milliseconds. Default 60,000. */
  readonly timeoutMs?: number;
  /** Limit of a whole call with its retries, milliseconds. Default: none. */
  readonly totalTimeoutMs?: number;
  /** Larger responses are refused, bytes. Default 1 GiB. */
  readonly maxResponseBytes?: number;
  /**
   * Encodings to ask for, of gzip, deflate, br and identity, such as `'gzip, br;q=0.5'`. Default: none, because unpacking costs more CPU than a fast network saves.
   * What a server compresses unasked is unpacked all the same.
   */
  readonly acceptEncoding?: string;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default `Math.random`. */
  readonly random?: Random;
  /** Default `Tinkex/TypeScript <version>`. */
  readonly userAgent?: string;
  /** Who this client's events are about. Default: a new client id and the base URL. */
  readonly source?: () => EventSource;
  /** The version of the reference client to speak as. Default `0.25.0`. */
  readonly sdkVersion?: string;
}
