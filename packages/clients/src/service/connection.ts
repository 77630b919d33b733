import type { Clock, HttpClient, Random, Transport } from '@tinkex/http';
import type { ClientReport } from '@tinkex/telemetry/reporter';
import type { EventSource, Tokenizer } from '@tinkex/types';
import type { ClientConfigResponse } from '@tinkex/types/wire';
import type { AttemptFailure } from '../calls/attempt-failure.js';
import type { CallOptions } from '../runtime/call-options.js';
import type { RetryScope } from '../calls/endpoint-caller.js';
import type { EndpointCall, EndpointKey, EndpointResponse } from '../calls/endpoint-types.js';
import type { Lifetime } from '../runtime/client-lifetime.js';
import type { ApiFuture } from '../futures/api-future.js';
import type { OperationSpec } from '../futures/running-call.js';
import type { PollJob } from '../futures/poller.js';
import type { AdmissionQueue } from '../limits/admission-queue.js';
import type { BillingPause } from '../limits/billing-pause.js';
import type { BodyBuffers } from '../training/body-memory.js';
import type { WireDialect } from '../training/wire-dialect.js';

/**
 * One started connection to one server with one credential: the configuration is fetched, the credential exchanged if the
 * server wants that. It is what every client (`TrainingClient`, `SamplingClient`, `RestClient`) is built on; a
 * `ServiceClient` has one, started by the first call that needs it, and it lives until the `ServiceClient` is closed.
 *
 * What a client class should do with it:
 * - **direct calls** (answered at once): {@link call}. It applies the endpoint's own pool, timeout, HTTP retries, outer retries
 *   (with the 402 pause) and codecs, and ends when the caller's `CallOptions` or the closing of the client say so.
 * - **operations with a promise**: {@link startOperation} for an eager `ApiFuture`; inside its `run`, send the submission with
 *   {@link call} (pass `signal: operation.signal`), report `operation.accepted([requestId])`, and wait with {@link poll}.
 * - **own retry rules** (sampling): {@link call} with `hasOuterRetry: false`, then {@link poll}; both throw the errors of
 *   `@tinkex/types` unchanged (`RateLimitError`, `FutureExpiredError` for 410, `RequestFailedError`, …).
 * - **time and chance**: only {@link clock} and {@link random}.
 * - **events**: `publish(name, { ...connection.source(), … })` from `@tinkex/http`.
 * - **things that must end with the client** (timers, waits in a limiter): register in {@link lifetime}, or use a `CallScope`.
 */
export interface Connection {
  /** Normalised, without a trailing slash. */
  readonly baseUrl: string;
  /**
   * Who pays: the base URL and a hash of the credential, never the credential. Equal for all clients of the process with the
   * same URL and key; the key of the shared rate limiter.
   */
  readonly tenantId: string;
  readonly clock: Clock;
  readonly random: Random;
  /** The network below {@link http}: no retries, no credential. For signed URLs of other hosts. */
  readonly transport: Transport;
  /** For requests that no endpoint of the table describes, such as a download. Prefer {@link call}. */
  readonly http: HttpClient;
  /** The server's flags, with the reference defaults for what it did not say. */
  readonly config: ClientConfigResponse;
  /** Limits the user set; they win over what the server configures. */
  readonly limits: ClientLimits;
  readonly lifetime: Lifetime;
  /** The rule for 402, shared by all calls of this connection. `billingPause.judge(402).isPaused` decides and remembers. */
  readonly billingPause: BillingPause;
  /** Who events are about. */
  source(): EventSource;
  /** Whether the user wants prompts and samples in events. */
  readonly publishesContent: boolean;
  /** Tells the service about a failure, if it wants to know. */
  report(report: ClientReport): void;
  /** Calls one endpoint of the table in `@tinkex/types` and decodes its answer. */
  call<Key extends EndpointKey>(key: Key, request: EndpointCall<Key>, options?: EndpointCallOptions): Promise<EndpointResponse<Key>>;
  /** The outer retry layer, for calls that do more in a round than {@link call} does. */
  retry<T>(work: () => PromiseLike<T>, scope: RetryScope): Promise<T>;
  /** Starts eager work and returns its future. Never throws: what `run` throws becomes the future's failure. */
  startOperation<T>(spec: OperationSpec<T>, options?: CallOptions): ApiFuture<T>;
  /** Polls one promise until it has a result, by the rules of the protocol, with a floor on the pace. */
  poll<T>(job: PollJob<T>): Promise<T>;
  /** The `Accept` header for a promise whose result exists as protobuf, by the client's `wireFormat`. */
  readonly acceptResult: string;
  /** Which encoding the server takes for forward/backward bodies; found out once for each client. */
  readonly dialect: WireDialect;
  /** Room for forward/backward chunks being submitted. */
  readonly dispatchBudget: AdmissionQueue;
  /** Memory for the bodies of forward/backward requests. */
  readonly bodyBuffers: BodyBuffers;
  /** The credential in use right now (API key or JWT), for identity only: never log, store or publish it. */
  credential(): Promise<string>;
  /** Loads a tokenizer by the user's loader or the built-in one, cached by id. */
  loadTokenizer(modelName: string, tokenizerId?: string): Promise<Tokenizer>;
}

/** A {@link Connection} with a session: heartbeats run, models and samplers can be created. */
export interface SessionConnection extends Connection {
  readonly sessionId: string;
  /** The next number for `create_sampling_session` and unnamed sampler saves, from 0. Take one for each HTTP attempt of the latter. */
  nextSamplingSessionSeqId(): number;
}

/** Options of {@link Connection.call} beyond those a user passes. */
export interface EndpointCallOptions extends CallOptions {
  /**
   * The signal is an operation's own (`Operation.signal`): it already stands for the caller's signal and time limit and for the
   * closing of the client, so that the call needs no scope of its own. Default false.
   */
  readonly isScoped?: boolean;
  /** Replaces the table's word on the outer retry layer. */
  readonly hasOuterRetry?: boolean;
  /** Replaces the table's number of HTTP retries. */
  readonly maxRetries?: number;
  /** Told of each attempt that failed, by either retry layer, before it is repeated. What it throws ends the call. */
  readonly onRetry?: (failure: AttemptFailure) => void;
}

/** Upper limits a user may set. Unset ones follow the server's configuration, or the default given here. */
export interface ClientLimits {
  /** Polls in flight at once; more pending futures take turns. Default 2,000. */
  readonly maxConcurrentPolls?: number;
  /** Estimated bytes of forward/backward chunks being submitted at once. Server's word, else 50,000,000. */
  readonly maxDispatchBytes?: number;
  /**
   * Memory that is kept for the bodies of forward/backward requests and used for one after the other, bytes. Default 33,554,432; 0 keeps none. A client
   * with a `transport`, `dispatcher` or `middleware` of its own never uses memory again: those may keep what they were given.
   */
  readonly maxReusedBodyBytes?: number;
  /** Bytes of large results being fetched at once. Server's word, else 52,428,800. */
  readonly maxResponseBytesInFlight?: number;
  /** Sampling submissions in flight at once. Default 400. */
  readonly maxConcurrentSampleSubmissions?: number;
  /** The same for 10 s after a backoff has ended. Default 10. */
  readonly maxThrottledSampleSubmissions?: number;
  /** Estimated bytes of prompts being submitted at once. Server's word, else 10,485,760. */
  readonly maxPromptBytesInFlight?: number;
  /** Sample calls (submission and wait) at once in one sampling client. Server's word, else 2,000. */
  readonly maxConcurrentSamples?: number;
  /**
   * Sample calls that one sampling client starts at once; the others follow, as many again each time the event loop has nothing else to
   * do. Default 32. It does not limit how many are under way, only how far they run ahead of a busy process.
   */
  readonly maxSampleStartsPerTurn?: number;
}
