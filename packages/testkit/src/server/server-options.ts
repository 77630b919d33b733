import type { Clock } from '@tinkex/http';
import type { ClientConfigResponse } from '@tinkex/types/wire';
import type { Dialect } from '../dialects/dialect.js';
import type { DialectName } from '../dialects/presets.js';
import type { Engine } from '../engine/engine.js';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { RouteName } from '../routes/route-types.js';
import type { RuleId } from '../rules/rules.js';

/** How the JWT exchange behaves. */
export interface JwtOptions {
  /** How long a token lives, seconds. Default 3600. The reference client loops on tokens of 300 s or less. */
  readonly lifetimeSec?: number;
  /** The `email` claim. Default none. */
  readonly email?: string;
}

/** Options of `createTestServer()` and `startServer()`. Everything has a default. */
export interface TestServerOptions {
  /** What computes: the embedded engine that learns (default), fixed answers of the right shape, or your own. */
  readonly engine?: 'learn' | 'canned' | Engine;
  /** More base model names for the built-in engines, all with the same tiny model behind them. `tinkex/tiny` always works. */
  readonly baseModels?: readonly string[];
  /** Which server to play. Default `hosted`. */
  readonly dialect?: DialectName | Dialect;
  /** Time for polls, expiries and delays. Default the machine's. */
  readonly clock?: Clock;
  /** The keys that exist, each its own tenant. Default: every key the dialect takes, each its own tenant. */
  readonly apiKeys?: readonly string[];
  /** A path before `/api/v1`, as in `/services/tinker-prod`. Default none. */
  readonly basePath?: string;
  /** Flags that `client/config` sends. Flags not named are not sent. */
  readonly config?: Partial<ClientConfigResponse>;
  /** What `client/dynamic_config` sends, seconds. Default 300. */
  readonly refreshIntervalSec?: number;
  /** Turns the JWT exchange on, and its flag in `client/config`. Default off. */
  readonly jwt?: boolean | JwtOptions;
  /** How long a poll of a pending promise is held. Default 20,000. The dialect may have its own. */
  readonly longPollMs?: number;
  /** Results of at least so many bytes are announced by a metadata answer first. Default 8 MiB. */
  readonly metadataOnlyBytes?: number;
  /** How long a finished promise can be polled before it is gone (410). Default 900,000. */
  readonly retentionMs?: number;
  /** How long a session lives without a heartbeat. Default 600,000. */
  readonly sessionTtlMs?: number;
  /** How long operations wait for a lower sequence number that never came. Default 300,000; `Infinity` = for ever. */
  readonly seqGapMs?: number;
  /** How long an operation takes on the server's clock, besides the engine's own time. Default 0. */
  readonly executionMs?: number | ((route: RouteName) => number);
  /** Bodies over this size are refused with 413. Default 256 MiB. */
  readonly maxBodyBytes?: number;
  /** How many calls the recorder keeps. Default 10,000. */
  readonly recorderLimit?: number;
  /** Called when each call is over, in order of their ends: for logs. */
  readonly onCall?: (call: RecordedCall) => void;
  /** Protocol rules not to watch. Default none. */
  readonly ignoreRules?: readonly RuleId[];
  /**
   * Whether JSON bodies may have fields that the documented protocol does not know: they are dropped, as if a newer client talked to an older
   * server that does not mind. Default false: such a body is refused and breaks the rule `body-invalid`.
   */
  readonly acceptUnknownFields?: boolean;
  /** The projects that exist; others answer 403. Default: any. */
  readonly projects?: readonly string[];
  /** How long an archive or a trace takes to build; until then 503 or `pending`. Default 0. */
  readonly archiveBuildMs?: number;
  /** How far the server's idea of the date is off. Default 0. */
  readonly clockSkewMs?: number;
  /** A folder to keep state in over restarts. Default: memory only. */
  readonly stateDir?: string;
}

/** Where `startServer()` listens. */
export interface ListenOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default `127.0.0.1`: this machine only. */
  readonly host?: string;
}

/** The options with every default filled in. */
export interface ServerSettings {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly apiKeys: readonly string[] | undefined;
  readonly basePath: string;
  readonly config: Partial<ClientConfigResponse>;
  readonly refreshIntervalSec: number;
  readonly jwt: { readonly lifetimeSec: number; readonly email: string | undefined } | undefined;
  readonly longPollMs: number;
  readonly metadataOnlyBytes: number;
  readonly retentionMs: number;
  readonly sessionTtlMs: number;
  readonly seqGapMs: number;
  readonly executionMs: (route: RouteName) => number;
  readonly maxBodyBytes: number;
  readonly recorderLimit: number;
  readonly ignoreRules: readonly RuleId[];
  readonly acceptUnknownFields: boolean;
  readonly projects: ReadonlySet<string> | undefined;
  readonly archiveBuildMs: number;
  readonly clockSkewMs: number;
}
