import type { Clock } from '@tinkex/http';
import type { ClientConfigResponse } from '@tinkex/types/wire';
import type { Dialect } from '../dialects/dialect.js';
import type { DialectName } from '../dialects/presets.js';
import type { BaseModelOptions } from '../engine/base-models.js';
import type { Engine } from '../engine/engine.js';
import type { Durability } from '../persistence/state-store.js';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { RouteName } from '../routes/route-types.js';
import type { RuleId } from '../rules/rules.js';
import type { OtherRequests } from './other-requests.js';
import type { ServerFlags } from './server-flags.js';

/** How the JWT exchange behaves. */
export interface JwtOptions {
  /** The lifetime of a token in seconds. Default 3600. The reference client loops on tokens of 300 s or less. */
  readonly lifetimeSec?: number | undefined;
  /** The `email` claim. Default none. */
  readonly email?: string | undefined;
  /** The `org_id` claim; null leaves it out. Default `testkit`. */
  readonly orgId?: string | null | undefined;
}

/** How the control API behaves. */
export interface ControlOptions {
  /** The token that requests send as `Authorization: Bearer …`; at least 16 characters. */
  readonly token: string;
  /** Whether other machines may use it. Default false: only programs on this machine. */
  readonly allowRemote?: boolean | undefined;
}

/** Options of `createTestServer()` and `startServer()`. All are optional. */
export interface TestServerOptions {
  /** The engine: `learn` (default) really learns, `canned` gives fixed answers of the right shape, or pass your own. */
  readonly engine?: 'learn' | 'canned' | Engine | undefined;
  /**
   * More base models for the built-in engines, or other settings of known ones. `tinkex/tiny` is always there; the engine `learn` also has
   * `tinkex/small` and every model of the table in `@tinkex/types/models`.
   */
  readonly baseModels?: readonly (string | BaseModelOptions)[] | undefined;
  /** Whether any other name is a base model of the built-in engines too, with a vocabulary of 262,144 tokens. Default false. */
  readonly anyModel?: boolean | undefined;
  /** The seed of samples that have none, for the engine `learn`. Default 0. */
  readonly samplingSeed?: number | undefined;
  /**
   * The log-probabilities that samples of the engine `learn` report: `raw` are those of the model, as a training pass reports them; `tempered` are
   * those after the temperature. Default `raw`.
   */
  readonly sampledLogprobs?: 'raw' | 'tempered' | undefined;
  /** The server to imitate. Default `hosted`. */
  readonly dialect?: DialectName | Dialect | undefined;
  /** The clock for polls, expiries and delays. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** The keys that exist. Default: every key that the dialect accepts. Each key is a separate tenant. */
  readonly apiKeys?: readonly string[] | undefined;
  /** A path before `/api/v1`, such as `/services/tinker-prod`. Default: none. */
  readonly basePath?: string | undefined;
  /** The flags that `client/config` sends. It sends no others. */
  readonly config?: Partial<ClientConfigResponse> | undefined;
  /**
   * Flags of `client/config` and `client/dynamic_config` under their names on the wire, such as `{ sample_cancel_enabled: true }`. They win
   * over `config`.
   */
  readonly flags?: Readonly<Record<string, boolean | number | string>> | undefined;
  /** The refresh interval that `client/dynamic_config` sends, in seconds. Default 300. */
  readonly refreshIntervalSec?: number | undefined;
  /** Turns on the JWT exchange and its flag in `client/config`. Default: the flag `pjwt_auth_enabled` of `flags`, else off. */
  readonly jwt?: boolean | JwtOptions | undefined;
  /** How long a poll of a pending future is held. Default 20,000, or what the dialect says. */
  readonly longPollMs?: number | undefined;
  /** The size from which a result is announced by a metadata answer first. Default 8 MiB. */
  readonly metadataOnlyBytes?: number | undefined;
  /** How long a finished future can be polled before it is gone (410). Default 900,000. */
  readonly retentionMs?: number | undefined;
  /** How long a session lives without a heartbeat. Default 600,000. */
  readonly sessionTtlMs?: number | undefined;
  /** How long operations wait for a missing lower sequence ID. Default 300,000; `Infinity` waits forever. */
  readonly seqGapMs?: number | undefined;
  /** How long an operation takes on the server's clock, in addition to the engine's time. Default 0. */
  readonly executionMs?: number | ((route: RouteName) => number) | undefined;
  /** The largest body; larger ones get 413. Default 256 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** How many calls the recorder keeps. Default 10,000. */
  readonly recorderLimit?: number | undefined;
  /** Called after each call, in the order in which calls end: for logs. */
  readonly onCall?: ((call: RecordedCall) => void) | undefined;
  /** Protocol rules to ignore. Default: none. */
  readonly ignoreRules?: readonly RuleId[] | undefined;
  /**
   * Whether a field or query parameter that the protocol does not know is refused and breaks a rule. Default true: a test of a client should
   * hear of a misspelled field. With false it is ignored and recorded in `server.notices`, as a server does with a newer client; the `serve`
   * command runs like that.
   */
  readonly strict?: boolean | undefined;
  /** The projects that exist; others get 403. Default: any. */
  readonly projects?: readonly string[] | undefined;
  /** How long an archive or a trace takes to build; until then the answer is 503 or `pending`. Default 0. */
  readonly archiveBuildMs?: number | undefined;
  /** How far the server's date is off, in milliseconds. Default 0. */
  readonly clockSkewMs?: number | undefined;
  /** Serves scripts, faults, chaos, the clock and the journal under `/__testkit`, for tests in other processes. Default: off. */
  readonly control?: ControlOptions | undefined;
  /** A folder that keeps the state across restarts. Default: memory only. */
  readonly stateDir?: string | undefined;
  /**
   * When a change is on disk. `relaxed` (default): sessions, models, samplers and checkpoints before they are acknowledged, everything else
   * within 500 ms; what was acknowledged survives the end of the process, except for the last steps of models with more than 8 MiB.
   * `strict`: everything before it is acknowledged.
   */
  readonly durability?: Durability | undefined;
}

/** Where `startServer()` listens. */
export interface ListenOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`: this machine only. */
  readonly host?: string | undefined;
  /**
   * Names that the `Host` header may have, in addition to addresses, `localhost` and `host`; others get 421. That keeps out web pages whose
   * name was pointed at this machine. `any` allows every name. Default: none.
   */
  readonly allowedHosts?: readonly string[] | 'any' | undefined;
  /** How long a client may take to send the headers of a request; 0 is forever. Default 60,000. Real time, whatever the clock. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long a client may take to send a whole request; 0 is forever. Default 300,000. Real time, whatever the clock. */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Answers requests that come over the network to paths beside `/api`, `/signed`, `/__testkit` and the `basePath`: for a page on the port of
   * the API. They are not recorded. What it throws becomes a 500, and `verify()` reports it. Default: such requests get 404 and break a rule.
   */
  readonly otherRequests?: OtherRequests | undefined;
}

/** The options with every default filled in. */
export interface ServerSettings {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly apiKeys: readonly string[] | undefined;
  readonly basePath: string;
  readonly config: Partial<ClientConfigResponse>;
  readonly flags: ServerFlags;
  readonly refreshIntervalSec: number;
  readonly jwt: { readonly lifetimeSec: number; readonly email: string | undefined; readonly orgId: string | undefined } | undefined;
  readonly longPollMs: number;
  readonly metadataOnlyBytes: number;
  readonly retentionMs: number;
  readonly sessionTtlMs: number;
  readonly seqGapMs: number;
  readonly executionMs: (route: RouteName) => number;
  readonly maxBodyBytes: number;
  readonly recorderLimit: number;
  readonly ignoreRules: readonly RuleId[];
  readonly isStrict: boolean;
  readonly projects: ReadonlySet<string> | undefined;
  readonly archiveBuildMs: number;
  readonly clockSkewMs: number;
  readonly durability: Durability;
  readonly control: { readonly token: string; readonly allowRemote: boolean } | undefined;
}
