import { randomUUID } from 'node:crypto';
import { type RetryInfo, type Transport, UndiciTransport } from '@tinkex/http';
import { type ClientReport, outerRetryReport, ServiceReporter } from '@tinkex/telemetry/reporter';
import type { EventSource, GetServerCapabilitiesResponse } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import { CallScope, clientClosed } from '../runtime/call-scope.js';
import type { FailedRound } from '../calls/endpoint-caller.js';
import { Lifetime } from '../runtime/client-lifetime.js';
import { throwIfAborted } from '../runtime/throw-if-aborted.js';
import { Futures } from '../futures/futures.js';
import { type Trouble, waitFor } from '../runtime/wait-for.js';
import { RestClient } from '../rest/rest-client.js';
import { checkSamplerOptions } from '../sampling/check-sampler-options.js';
import { SamplingClient, type SamplingClientOptions } from '../sampling/sampling-client.js';
import { keepDynamicConfig } from './dynamic-config.js';
import { keepSessionAlive, startSession } from './start-session.js';
import { TokenizerLibrary } from '../tokenizers/tokenizer-library.js';
import { checkLoraModel, createLoraModel, createModelFromState } from '../training/create-model.js';
import { checkResumeOptions, type ResumedTraining, type ResumeOptions, resumeTraining } from '../training/resume.js';
import { TrainingClient } from '../training/training-client.js';
import type { FromStateOptions, LoraTrainingOptions } from '../training/training-options.js';
import type { Connection, SessionConnection } from './connection.js';
import { chooseCredential } from './credentials.js';
import { FailureReports } from './failure-reports.js';
import { type ResolvedOptions, resolveOptions } from './resolve-options.js';
import { serviceConnection } from './service-connection.js';
import type { ServiceClientOptions } from './service-options.js';
import { type Started, startConnection } from './start-connection.js';

/** How long `close()` waits for the last reports to go out. */
const LAST_REPORT_MS = 1_000;

/**
 * The way in. It reaches one server with one credential, and makes the clients that train, sample and manage.
 *
 * Making one does no I/O: the configuration, the credential exchange and the session follow with the first call that needs
 * them. Two clients in one process share nothing but the rate limiter of an equal base URL and key. Close it when done, or
 * declare it with `await using`; a process that forgets still exits.
 *
 * @throws `ConfigurationError` for unknown or impossible options, at once.
 */
export class ServiceClient implements AsyncDisposable {
  readonly #options: ResolvedOptions;
  readonly #userOptions: ServiceClientOptions;
  readonly #lifetime = new Lifetime();
  readonly #transport: Transport;
  readonly #clientId = randomUUID();
  #sessionId: string | undefined;
  #connecting: Promise<Connection> | undefined;
  #openingSession: Promise<SessionConnection> | undefined;
  #started: Started | undefined;
  readonly #reports = new FailureReports((sessionId) => this.#makeReporter(sessionId));
  #startUpTrouble: Trouble | undefined;
  readonly #adoptedSessions = new Set<string>();
  #nextModelSeqId = 0;
  #nextSamplingSessionSeqId = 0;
  #closing: Promise<void> | undefined;

  /** Futures of other processes. */
  readonly futures: Futures;

  constructor(options: ServiceClientOptions = {}) {
    this.#options = resolveOptions(options);
    this.#userOptions = options;
    if (this.#options.isHosted) chooseCredential(this.#options);
    const { dispatcher } = this.#options;
    this.#transport = this.#options.transport ?? new UndiciTransport(dispatcher === undefined ? {} : { dispatcher });
    this.futures = new Futures({ clock: this.#options.clock, lifetime: this.#lifetime, source: () => this.eventSource() }, (options) =>
      this.#connection(options),
    );
  }

  /** The server's address, normalised. */
  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  /** Who this client's events are about: its `clientId` tells it apart from other clients where events are consumed. */
  eventSource(): EventSource {
    const { baseUrl } = this.#options;
    const base = { clientId: this.#clientId, baseUrl };
    return this.#sessionId === undefined ? base : { ...base, sessionId: this.#sessionId };
  }

  /** The session's id; starts the session if there is none yet. */
  async sessionId(options: CallOptions = {}): Promise<string> {
    const { sessionId } = await this.#session(options);
    return sessionId;
  }

  /** The models that can be trained and sampled. Needs no session. */
  async getServerCapabilities(options: CallOptions = {}): Promise<GetServerCapabilitiesResponse> {
    return this.#steps(options, this.#connection, (connection, step) => connection.call('getServerCapabilities', {}, step));
  }

  /**
   * Makes a new LoRA adapter on a base model.
   *
   * @throws `ValidationError` before anything is sent when the options make no sense; otherwise what the server says.
   */
  async createLoraTrainingClient(options: LoraTrainingOptions & CallOptions): Promise<TrainingClient> {
    checkLoraModel(options);
    const modelSeqId = this.#nextModelSeqId++;
    return this.#steps(options, this.#session, async (connection, step) => {
      const modelId = await createLoraModel(connection, modelSeqId, step);
      return new TrainingClient(connection, modelId);
    });
  }

  /** Makes a new model with saved weights and a fresh optimizer. */
  createTrainingClientFromState(path: string, options: FromStateOptions & CallOptions = {}): Promise<TrainingClient> {
    return this.#fromState(path, false, options);
  }

  /** Makes a new model that goes on exactly where the checkpoint was saved: weights and optimizer state. */
  createTrainingClientFromStateWithOptimizer(path: string, options: FromStateOptions & CallOptions = {}): Promise<TrainingClient> {
    return this.#fromState(path, true, options);
  }

  /**
   * Makes a client that samples from saved weights (`modelPath`) or from a base model (`baseModel`).
   *
   * @throws `ConfigurationError`, before anything is sent, when neither is named or an option makes no sense; otherwise what the server says.
   */
  async createSamplingClient(options: SamplingClientOptions & CallOptions): Promise<SamplingClient> {
    checkSamplerOptions(options);
    return this.#steps(options, this.#session, (connection, step) => SamplingClient.create(connection, step, step));
  }

  /** Makes a client that looks after runs, checkpoints, sessions and bills. Needs no session. */
  createRestClient(): RestClient {
    return new RestClient((options, work) => this.#steps(options, this.#connection, work));
  }

  /**
   * A connection for a sampler that another thread or process has made, with heartbeats for the session it belongs to.
   *
   * @internal Used by `SamplingClient.fromJSON`.
   */
  async samplingConnection(sessionId?: string, options: CallOptions = {}): Promise<Connection> {
    const connection = await this.#connection(options);
    if (sessionId !== undefined && sessionId !== this.#sessionId && !this.#adoptedSessions.has(sessionId)) {
      this.#adoptedSessions.add(sessionId);
      keepSessionAlive(connection, sessionId, this.#options);
    }
    return connection;
  }

  /**
   * Goes on after a crash: finds the newest training checkpoint of a run (or takes the one you name) and makes a new model of
   * it with its optimizer state.
   *
   * @throws `NotFoundError` when the run has no training checkpoint.
   */
  async resume(options: ResumeOptions & CallOptions): Promise<ResumedTraining> {
    checkResumeOptions(options);
    return this.#steps(options, this.#connection, (connection, step) =>
      resumeTraining(connection, step, (path, isExact) => this.#fromState(path, isExact, step)),
    );
  }

  /**
   * Ends the session's heartbeats, every wait (`AbortedError`) and every connection. Idempotent. Operations the server has
   * accepted still run there.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Starts once for all callers; one caller's abort ends only its own wait. A failed start is tried again by the next call. */
  async #connection(options: CallOptions = {}): Promise<Connection> {
    throwIfAborted(options);
    this.#connecting ??= this.#shared(
      (signal) => this.#connect(signal),
      () => {
        this.#connecting = undefined;
      },
    );
    return waitFor(this.#connecting, this.#options.clock, options, 'the connection to start', () => this.#startUpTrouble);
  }

  async #session(options: CallOptions = {}): Promise<SessionConnection> {
    throwIfAborted(options);
    this.#openingSession ??= this.#shared(
      (signal) => this.#openSession(signal),
      () => {
        this.#openingSession = undefined;
      },
    );
    return waitFor(this.#openingSession, this.#options.clock, options, 'the session to start', () => this.#startUpTrouble);
  }

  async #shared<T>(start: (signal: AbortSignal) => Promise<T>, forget: () => void): Promise<T> {
    try {
      return await new CallScope(this.#options.clock, this.#lifetime).run(start);
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** Remembered so that a caller who gives up waiting for the start learns what is wrong. */
  #noteTrouble({ error, status }: RetryInfo): void {
    const text = error instanceof Error ? error.message : `status ${status}`;
    this.#startUpTrouble = { text, ...(error === undefined ? {} : { cause: error }) };
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const onReport = (report: ClientReport): void => this.#reports.event(report);
    const parts = {
      options: this.#options,
      transport: this.#transport,
      lifetime: this.#lifetime,
      source: () => this.eventSource(),
      onFailedRound: (failure: FailedRound) => onReport(outerRetryReport(failure)),
      onHttpRetry: (retry: RetryInfo) => this.#noteTrouble(retry),
    };
    this.#started = await startConnection(parts, signal);
    const tokenizers = new TokenizerLibrary(this.#options.tokenizer ?? {}, { ...parts, clock: this.#options.clock });
    const loadTokenizer = (modelName: string, tokenizerId?: string) => tokenizers.load(modelName, tokenizerId);
    const onFailure = (error: unknown): void => this.#reports.captureInSession(error);
    return serviceConnection({ ...parts, started: this.#started, loadTokenizer, onFailure, onReport });
  }

  async #openSession(signal: AbortSignal): Promise<SessionConnection> {
    const connection = await this.#connection({ signal });
    const sessionId = await startSession(connection, this.#options, signal);
    // Closed at the last moment, perhaps because of what the server had to tell: nobody would end what starts now.
    if (this.#closing !== undefined) throw clientClosed();
    this.#sessionId = sessionId;
    this.#keepConfigFresh(connection);
    this.#reports.startSession(sessionId);
    return {
      ...connection,
      sessionId,
      nextSamplingSessionSeqId: () => this.#nextSamplingSessionSeqId++,
    };
  }

  /** Reporters are owned by this client: closing another client never stops them. */
  #makeReporter(sessionId: string): ServiceReporter | undefined {
    const { isTelemetryEnabled, sdkVersion, clock, random } = this.#options;
    const http = this.#started?.http;
    if (!isTelemetryEnabled || http === undefined) return undefined;
    return new ServiceReporter({ http, sessionId, sdkVersion, clock, random });
  }

  #keepConfigFresh(connection: Connection): void {
    const initial = this.#started?.dynamicConfig;
    if (initial === undefined) return;
    const { clock, sdkVersion } = this.#options;
    const fetch = () => connection.call('clientDynamicConfig', { body: { sdkVersion } }, { hasOuterRetry: false });
    keepDynamicConfig({ clock, lifetime: this.#lifetime, initial, fetch });
  }

  async #fromState(path: string, hasOptimizer: boolean, options: FromStateOptions & CallOptions): Promise<TrainingClient> {
    const modelSeqId = this.#nextModelSeqId++;
    return this.#steps(options, this.#session, async (connection, step) => {
      const connectAs = (apiKey: string) => this.#sibling(apiKey, step);
      const { modelId, loadPath } = await createModelFromState(connection, { path, hasOptimizer, modelSeqId, options: step, connectAs });
      const client = new TrainingClient(connection, modelId);
      if (loadPath !== undefined) await (hasOptimizer ? client.loadStateWithOptimizer(loadPath, step) : client.loadState(loadPath, step));
      return client;
    });
  }

  /**
   * A call that waits for the connection or the session and then goes on in steps of its own. The caller's time limit is one for all of them: the
   * steps get the options without it, with a signal that stands for it.
   */
  async #steps<Options extends CallOptions, Connected extends Connection, T>(
    options: Options,
    connect: (this: ServiceClient, options: CallOptions) => Promise<Connected>,
    work: (connected: Connected, step: Options & { readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options;
    const startedAtMs = clock.now();
    const connected = await connect.call(this, options);
    const { timeoutMs: _, ...rest } = options;
    try {
      return await new CallScope(clock, this.#lifetime, options, startedAtMs).run((signal) =>
        work(connected, { ...rest, signal } as Options & { readonly signal: AbortSignal }),
      );
    } catch (error) {
      if (hasSession(connected)) this.#reports.captureInSession(error);
      else this.#reports.captureWithoutSession(error);
      throw error;
    }
  }

  /** Another client of the same server with another credential, for weights that belong to somebody else. */
  #sibling(apiKey: string, step: CallOptions): { connection: Promise<Connection>; close: () => Promise<void> } {
    const sibling = new ServiceClient({ ...this.#userOptions, apiKey, baseUrl: this.#options.baseUrl });
    return { connection: sibling.#connection(step), close: () => sibling.close() };
  }

  async #close(): Promise<void> {
    await this.#reports.close({ timeoutMs: LAST_REPORT_MS });
    this.#lifetime.close();
    if (this.#options.transport === undefined) await this.#transport.close();
  }
}

function hasSession(connection: Connection): boolean {
  return 'sessionId' in connection;
}
