import type { Clock, Middleware, Random, Transport, UndiciTransportOptions } from '@tinkex/http';
import type { JsonObject, WireFormat } from '@tinkex/types';
import type { TokenizerOptions } from '../tokenizers/tokenizer-library.js';
import type { ClientLimits } from './connection.js';

/** A message that the server wants its users to see, or that the client has about the server. */
export interface ServerMessage {
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
}

/** How to reach the service, and as whom. Options win over the environment variables named here. */
export interface ServiceClientOptions {
  /** `TINKER_API_KEY`. Must start with `tml-` or be a JWT when the base URL is the hosted service's; self-hosted servers may need none. */
  readonly apiKey?: string;
  /** `TINKER_CREDENTIAL_CMD`: a shell command that prints the credential; used where the protocol allows it. */
  readonly credentialCommand?: string;
  /** `TINKER_BASE_URL`. Default: the hosted service. */
  readonly baseUrl?: string;
  /** `TINKER_PROJECT_ID`: the project the session belongs to. */
  readonly projectId?: string;
  /** `TINKER_TAGS` (comma-separated): tags of the session. */
  readonly tags?: readonly string[];
  /** Free-form facts about the session. */
  readonly userMetadata?: JsonObject;
  /** Limit of one HTTP attempt in milliseconds where the protocol sets none of its own. Default 60,000. */
  readonly timeoutMs?: number;
  /** HTTP retries of calls that may be retried. Default 10. */
  readonly maxRetries?: number;
  /**
   * For how long the start, training submissions, saves and REST calls are repeated on top of `maxRetries`, milliseconds, while they fail in a way
   * time may heal. Default 300,000. 0 leaves only `maxRetries`. Creating sessions, models and sampling clients has `maxRetries` alone.
   */
  readonly maxRetryMs?: number;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to the query of every request. */
  readonly query?: Readonly<Record<string, string>>;
  /** Where requests go instead of undici: the testkit's `memoryTransport()`, or your own. It is not closed by this client. */
  readonly transport?: Transport;
  /** An undici dispatcher for the built-in transport, for proxies, TLS or pools of your own. It is not closed by this client. */
  readonly dispatcher?: UndiciTransportOptions['dispatcher'];
  /** Layers around each HTTP attempt, outermost first. */
  readonly middleware?: readonly Middleware[];
  /** Default `auto`: protobuf, and JSON for a server that refuses protobuf. */
  readonly wireFormat?: 'auto' | WireFormat;
  /** Time. Default: the machine's. */
  readonly clock?: Clock;
  /** Chance, uniform in [0, 1). Default `Math.random`. */
  readonly random?: Random;
  /** The reference version told to the server. Default: the one this SDK mirrors. */
  readonly sdkVersion?: string;
  /** `TINKER_TELEMETRY`: whether session start and failures are reported to the service. Default: only to the hosted service. */
  readonly telemetry?: boolean;
  /**
   * Whether `tinkex:sampling:call` events carry the prompt's and the sampled tokens, for sinks that ask for content too. Default false: no event
   * ever carries content.
   */
  readonly publishContent?: boolean;
  /** Between two heartbeats. Default 10,000. */
  readonly heartbeatIntervalMs?: number;
  /** How much may be under way at once. Calls over a limit wait in line; none is refused. */
  readonly limits?: ClientLimits;
  /** Where tokenizers come from: your own loader, a directory, a hub. Default: the hub, with the optional peer `@huggingface/tokenizers`. */
  readonly tokenizer?: TokenizerOptions;
  /**
   * Told what the server says at the start of a session, that an account is unpaid (402), and that heartbeats are not answered. Default: warnings and
   * errors become process warnings, which Node prints.
   */
  readonly onServerMessage?: (message: ServerMessage) => void;
}
