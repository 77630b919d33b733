import type { Clock, Middleware, Random, Transport, UndiciTransportOptions } from '@tinkex/http';

/** A message from the server to its users, or from the client about the server. */
export interface ServerMessage {
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
}

/** Rules for the addresses that the server hands out for downloads of checkpoints. */
export interface DownloadRules {
  /**
   * Whether such an address, or a redirect from it, may lead to this machine or to a private network: loopback, `10.0.0.0/8`, `192.168.0.0/16`,
   * link-local and the like, written out or behind a name. Requests for it never carry your key. Default true, for self-hosted servers; set
   * `false` where the network trusts this process, such as in a cloud, and the server belongs to another party. Needs the built-in
   * transport. Behind a proxy, which resolves names itself, only written-out addresses are refused.
   */
  readonly allowPrivateAddresses?: boolean | undefined;
}

/** How to reach the service, and as whom. Options win over the environment variables named here. */
export interface ConnectionOptions {
  /**
   * `TINKER_API_KEY`. Must start with `tml-` or be a JWT when the base URL is the hosted service's; self-hosted servers may need none. For
   * the hosted service, without a key and a credential command, the default key of `~/.tinker/credentials.json` (`tinker auth login`).
   */
  readonly apiKey?: string | undefined;
  /** `TINKER_CREDENTIAL_CMD`: a shell command that prints the credential; used where the protocol allows it. */
  readonly credentialCommand?: string | undefined;
  /** `TINKER_BASE_URL`. Default: the hosted service. */
  readonly baseUrl?: string | undefined;
  /**
   * Limit of one HTTP attempt in milliseconds, for endpoints without a limit in the protocol. Default 60,000. It does not limit a call,
   * which may make several attempts: pass `timeoutMs` to the call for that.
   */
  readonly attemptTimeoutMs?: number | undefined;
  /** HTTP retries of calls that may be retried. Default 10. */
  readonly maxRetries?: number | undefined;
  /**
   * How long the start, training submissions, saves and REST calls are repeated on top of `maxRetries`, in milliseconds, while they fail
   * temporarily. Default 300,000. 0 leaves only `maxRetries`. Creating sessions, models and sampling clients uses `maxRetries` alone.
   */
  readonly maxRetryMs?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Added to the query of every request. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Replaces `defaultTransport()` of `@tinkex/http`: the testkit's `memoryTransport()`, or your own. This client does not close it. */
  readonly transport?: Transport | undefined;
  /** An undici dispatcher for the built-in transport, for proxies, TLS or pools. This client does not close it. */
  readonly dispatcher?: UndiciTransportOptions['dispatcher'] | undefined;
  /** Rules for the addresses that the server hands out for downloads. Default: any address of http or https. */
  readonly downloads?: DownloadRules | undefined;
  /** Layers around each HTTP attempt, outermost first. */
  readonly middleware?: readonly Middleware[] | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Random numbers, uniform in [0, 1). Default `Math.random`. */
  readonly random?: Random | undefined;
  /** The reference version reported to the server. Default: the one that this SDK mirrors. */
  readonly sdkVersion?: string | undefined;
  /** `TINKER_TELEMETRY`: whether the session's start and failures are reported to the service. Default: only to the hosted service. */
  readonly telemetry?: boolean | undefined;
  /**
   * Receives the server's messages at the start of a session, its deprecation notes (each once), and warnings about an unpaid account
   * (402), unanswered heartbeats and sessions that have ended. Default: warnings and errors become process warnings, which Node prints.
   */
  readonly onServerMessage?: ((message: ServerMessage) => void) | undefined;
}
