import type { EventSource } from '@tinkex/types';
import type { AuthProvider } from '../auth/auth-provider.js';
import type { Clock, Random } from '../clock/clock.js';
import type { Middleware, Transport } from '../transport/transport.js';
import type { Query } from '../url/url.js';

/** What a server says about something that it will stop supporting: the headers `x-deprecation-note` and `x-deprecation-level`. */
export interface DeprecationNotice {
  readonly note: string;
  readonly level: 'warning' | 'error';
}

/** Options of `HttpClient`. */
export interface HttpClientOptions {
  /** Absolute http(s) URL. Its path is kept in front of each call's path. */
  readonly baseUrl: string;
  /** Default: no credential. Closed together with the client. */
  readonly auth?: AuthProvider | undefined;
  /** Default: a new `defaultTransport()`, closed together with the client. You close a transport that you pass in. */
  readonly transport?: Transport | undefined;
  /** Your layers around each attempt, the first outermost. */
  readonly middleware?: readonly Middleware[] | undefined;
  /** Sent with each call. Any letter case; headers of a call win. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent with each call. The query of a call wins by name. */
  readonly query?: Query | undefined;
  /** Attempts after the first. Default 10. */
  readonly maxRetries?: number | undefined;
  /** Limit for one attempt, milliseconds. Default 60,000. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Limit for a whole call with its retries and waits, milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Larger responses are rejected, bytes. Default 1 GiB. */
  readonly maxResponseBytes?: number | undefined;
  /**
   * Encodings to request, of gzip, deflate, br and identity, such as `'gzip, br;q=0.5'`. Default: none, because decoding costs
   * more CPU than a fast network saves. A response that is encoded without a request is decoded all the same.
   */
  readonly acceptEncoding?: string | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Default `Math.random`. */
  readonly random?: Random | undefined;
  /** Default `Tinkex/TypeScript <version>`. */
  readonly userAgent?: string | undefined;
  /** What this client's events are about. Default: a new client ID and the base URL. */
  readonly source?: (() => EventSource) | undefined;
  /** Called for each final response with a deprecation note, before the call settles. Must not throw. Default: notes are ignored. */
  readonly onDeprecation?: ((notice: DeprecationNotice) => void) | undefined;
  /** The version of the reference client to announce. Default: the one that this SDK mirrors. */
  readonly sdkVersion?: string | undefined;
}
