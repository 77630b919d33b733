import type { JsonObject, WireFormat } from '@tinkex/types';
import type { ConnectionOptions } from '../connection/connection-options.js';
import type { ClientLimits } from '../limits/client-limits.js';
import type { TokenizerOptions } from '../tokenizers/tokenizer-library.js';

/** How to reach the service, and how the session and its clients behave. */
export interface ServiceClientOptions extends ConnectionOptions {
  /** `TINKER_PROJECT_ID`: the project the session belongs to. */
  readonly projectId?: string | undefined;
  /** The name of the session in lists and searches; need not be unique. */
  readonly displayName?: string | undefined;
  /** `TINKER_TAGS` (comma-separated): tags of the session. */
  readonly tags?: readonly string[] | undefined;
  /** Free-form facts about the session. */
  readonly userMetadata?: JsonObject | undefined;
  /** The format of forward/backward requests and bulk results. Default `auto`: protobuf, and JSON for a server that refuses protobuf. */
  readonly wireFormat?: WireFormat | 'auto' | undefined;
  /**
   * Whether `tinkex:sampling:call` events carry the tokens of prompts and samples, for sinks that also request content. Default false: no
   * event carries content.
   */
  readonly publishContent?: boolean | undefined;
  /** Milliseconds between two heartbeats. Default 10,000. */
  readonly heartbeatIntervalMs?: number | undefined;
  /** How much may be in progress at the same time. Calls over a limit wait; none is refused. */
  readonly limits?: ClientLimits | undefined;
  /** Where tokenizers come from: a loader, a directory, a hub. Default: the hub, with the optional peer `@huggingface/tokenizers`. */
  readonly tokenizer?: TokenizerOptions | undefined;
}
