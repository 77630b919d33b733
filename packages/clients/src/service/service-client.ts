import type { EventSource, GetServerCapabilitiesResponse, SessionFinishReason } from '@tinkex/types';
import { Connection, type Step } from '../connection/connection.js';
import { Futures } from '../futures/futures.js';
import { RestClient } from '../rest/rest-client.js';
import type { CallOptions } from '../runtime/call-options.js';
import { clientClosed } from '../runtime/call-scope.js';
import { notifyUser } from '../runtime/notify-user.js';
import type { SharedWork } from '../runtime/shared-work.js';
import { SeqIds } from '../sampling/sample-call.js';
import {
  checkSamplerOptions,
  type SamplerOptions,
  SamplingClient,
  type SamplingClientOptions,
  type SamplingService,
} from '../sampling/sampling-client.js';
import { parseSamplingHandle, type SamplingClientHandle } from '../sampling/sampling-handle.js';
import { checkLoraModel, createLoraModel, createModelFromState } from '../training/create-model.js';
import type { TrainingParts } from '../training/operations.js';
import { checkResumeOptions, findNewestCheckpoint, type ResumedTraining, type ResumeOptions } from '../training/resume.js';
import { TrainingClient } from '../training/training-client.js';
import type { FromStateOptions, LoraTrainingOptions } from '../training/training-options.js';
import { type ClientParts, createClientParts } from './client-parts.js';
import { keepDynamicConfig } from './dynamic-config.js';
import { type CloseOptions, finishSession, reasonOf } from './finish-session.js';
import { type ResolvedOptions, resolveOptions } from './resolve-options.js';
import type { ServiceClientOptions } from './service-options.js';
import { keepSessionAlive, startSession } from './start-session.js';

type SessionClientParts = ClientParts & TrainingParts;

/**
 * The entry point: connects to one server with one credential, and creates the clients that train, sample and manage.
 *
 * The constructor makes no request: the configuration, the credential exchange and the session follow with the first call that needs them. Two
 * clients in one process share nothing but the rate limiter of an equal base URL and key. Close it when you are done, or declare it with
 * `await using`; a process that forgets still exits.
 *
 * @throws `ConfigurationError` for unknown or invalid options, immediately.
 */
export class ServiceClient implements AsyncDisposable, SamplingService {
  readonly #options: ResolvedOptions;
  readonly #connection: Connection<ClientParts>;
  readonly #session: SharedWork<SessionClientParts>;
  readonly #adoptedSessions = new Set<string>();
  #openSession: { readonly sessionId: string; readonly parts: ClientParts } | undefined;
  #nextModelSeqId = 0;
  #nextSamplingSessionSeqId = 0;
  #closing: Promise<void> | undefined;

  /** Waits for results that another process requested. */
  readonly futures: Futures;

  constructor(options: ServiceClientOptions = {}) {
    this.#options = resolveOptions(options);
    this.#connection = new Connection(this.#options, (parts, started) => createClientParts(this.#options, parts, started));
    this.#session = this.#connection.shareWork('the session to start');
    this.futures = Futures.of(this.#connection.runtime, (waitOptions) => this.#connection.connect(waitOptions));
  }

  /** The server's address, normalized. */
  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  /** Identifies this client in events: its `clientId` distinguishes it from other clients where events are consumed. */
  eventSource(): EventSource {
    return this.#connection.eventSource();
  }

  /** The session's ID. Starts the session if there is none yet. */
  async sessionId(options: CallOptions = {}): Promise<string> {
    const { session } = await this.#connectSession(options);
    return session.sessionId;
  }

  /** The models that you can train and sample. Needs no session. */
  async getServerCapabilities(options: CallOptions = {}): Promise<GetServerCapabilitiesResponse> {
    return this.#connection.run(options, ({ calls }, step) => calls.call('getServerCapabilities', {}, step));
  }

  /**
   * Checks that the service takes your credential and account: one request outside the outer retry layer, so that a failure is an error and
   * not a wait. Needs no session.
   *
   * @throws `AuthenticationError`, `BillingError` (the account is not set up; not waited for), `ConnectionError`, …
   */
  async checkAccess(options: CallOptions = {}): Promise<void> {
    await this.#connection.run(options, ({ calls }, step) => calls.call('getServerCapabilities', {}, { ...step, hasOuterRetry: false }));
  }

  /**
   * Creates a new LoRA adapter on a base model.
   *
   * @throws `ValidationError` before anything is sent when the options are invalid; otherwise the server's error.
   */
  async createLoraTrainingClient(options: LoraTrainingOptions): Promise<TrainingClient> {
    checkLoraModel(options);
    const modelSeqId = this.#nextModelSeqId++;
    return this.#runInSession(options, async (parts, step) => TrainingClient.of(parts, await createLoraModel(parts, modelSeqId, step)));
  }

  /** Creates a new model with saved weights and a new optimizer. */
  createTrainingClientFromState(path: string, options: FromStateOptions = {}): Promise<TrainingClient> {
    return this.#createFromState(path, false, options);
  }

  /** Creates a new model that continues exactly where the checkpoint was saved: weights and optimizer state. */
  createTrainingClientFromStateWithOptimizer(path: string, options: FromStateOptions = {}): Promise<TrainingClient> {
    return this.#createFromState(path, true, options);
  }

  /**
   * Creates a client that samples from saved weights (`modelPath`) or from a base model (`baseModel`).
   *
   * @throws `ConfigurationError`, before anything is sent, when neither is set or an option is invalid; otherwise the server's error.
   */
  async createSamplingClient(options: SamplingClientOptions): Promise<SamplingClient> {
    checkSamplerOptions(options);
    return this.#runInSession(options, (parts, step) => SamplingClient.create(parts, parts.session, step));
  }

  /**
   * Continues a sampling client of another thread or process, and keeps its session alive.
   *
   * @param handle - The result of `samplingClient.toJSON()` there.
   * @throws `ConfigurationError` when the handle is invalid.
   */
  async attachSamplingClient(handle: SamplingClientHandle, options: SamplerOptions = {}): Promise<SamplingClient> {
    const { samplingSessionId, sessionId } = parseSamplingHandle(handle);
    const parts = await this.#connection.connect(options);
    if (sessionId !== undefined && sessionId !== this.#connection.sessionId && !this.#adoptedSessions.has(sessionId)) {
      this.#adoptedSessions.add(sessionId);
      keepSessionAlive(parts, sessionId, this.#options);
    }
    return SamplingClient.of(parts, { samplingSessionId, sessionId, seqIds: SeqIds.forCopy(), retry: options.retry });
  }

  /** Creates a client that manages runs, checkpoints, sessions and bills. Needs no session. */
  createRestClient(): RestClient {
    return RestClient.of((options, work) => this.#connection.run(options, work));
  }

  /**
   * Continues training after a crash: finds the newest training checkpoint of a run (or uses the one you name) and creates a new model from
   * it with its optimizer state.
   *
   * @throws `NotFoundError` when the run has no training checkpoint.
   */
  async resume(options: ResumeOptions): Promise<ResumedTraining> {
    checkResumeOptions(options);
    const { trainingRunId, path, withOptimizer = true } = options;
    return this.#connection.run(options, async ({ calls, runtime: { clock } }, step) => {
      if (path !== undefined) return { training: await this.#createFromState(path, withOptimizer, step), path };
      const checkpoint = await findNewestCheckpoint(calls, trainingRunId as string, step, clock);
      const { tinkerPath } = checkpoint;
      return { training: await this.#createFromState(tinkerPath, withOptimizer, step), path: tinkerPath, checkpoint };
    });
  }

  /**
   * Refuses new calls, finishes the session with this status, then ends every wait (`AbortedError`), the heartbeats and every connection.
   * Without a session nothing is sent. Idempotent: the first call decides. Operations that the server has accepted still run there.
   *
   * @param status - How the work ended. Default `success`.
   * @throws What finishing the session failed with, after everything is closed. A server that cannot finish sessions is not a failure.
   */
  close(status: SessionFinishReason = 'success', options: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close(status, options);
    return this.#closing;
  }

  /** Closes with the status `success`: a disposal does not know why the block ended. Use {@link run} to report failures too. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Runs `work` with this client and closes it with what `work` did: `success`, `errored`, or `interrupted` if it was aborted.
   *
   * @returns What `work` returns.
   * @throws What `work` throws. If it succeeds: what {@link close} throws.
   */
  async run<T>(work: (service: this) => T | Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await work(this);
    } catch (error) {
      await this.#closeAfterFailure(error);
      throw error;
    }
    await this.close();
    return result;
  }

  async #connectSession(options: CallOptions): Promise<SessionClientParts> {
    if (this.#closing !== undefined) throw clientClosed();
    return this.#session.wait((signal) => this.#startSession(signal), options);
  }

  async #startSession(signal: AbortSignal): Promise<SessionClientParts> {
    const parts = await this.#connection.connect({ signal });
    const sessionId = await startSession(parts, this.#options, signal, (created) => {
      this.#openSession = { sessionId: created, parts };
      this.#connection.sessionId = created;
    });
    // Closed in the meantime, perhaps because of the server's message: nothing would end what starts now.
    if (this.#closing !== undefined) throw clientClosed();
    this.#refreshConfig(parts);
    this.#connection.reports.startSession(sessionId);
    return { ...parts, session: { sessionId, nextSamplingSessionSeqId: () => this.#nextSamplingSessionSeqId++ } };
  }

  #refreshConfig({ calls, dynamicConfig: initial, runtime: { clock, lifetime } }: ClientParts): void {
    if (initial === undefined) return;
    const { sdkVersion } = this.#options;
    const fetch = () => calls.call('clientDynamicConfig', { body: { sdkVersion } }, { hasOuterRetry: false });
    keepDynamicConfig({ clock, lifetime, initial, fetch });
  }

  async #createFromState(path: string, hasOptimizer: boolean, options: FromStateOptions): Promise<TrainingClient> {
    const modelSeqId = this.#nextModelSeqId++;
    return this.#runInSession(options, async (parts, step) => {
      const connectAs = (apiKey: string) => this.#connectSibling(apiKey, step);
      const { modelId, loadPath } = await createModelFromState(parts, { path, hasOptimizer, modelSeqId, options: step, connectAs });
      const client = TrainingClient.of(parts, modelId);
      if (loadPath !== undefined) await (hasOptimizer ? client.loadStateWithOptimizer(loadPath, step) : client.loadState(loadPath, step));
      return client;
    });
  }

  #runInSession<Options extends CallOptions, T>(
    options: Options,
    work: (parts: SessionClientParts, step: Step<Options>) => Promise<T>,
  ): Promise<T> {
    const capture = (error: unknown) => this.#connection.reports.capture(error);
    return this.#connection.runAfter((wait) => this.#connectSession(wait), options, work, capture);
  }

  /** A connection to the same server with another credential, for weights of another account. */
  #connectSibling(apiKey: string, step: CallOptions) {
    const sibling = new Connection({ ...this.#options, apiKey }, (parts) => parts);
    const calls = sibling.connect(step).then((parts) => parts.calls);
    return { calls, close: () => sibling.close() };
  }

  async #close(status: SessionFinishReason, options: CloseOptions): Promise<void> {
    this.#connection.runtime.lifetime.endCalls();
    try {
      if (this.#openSession !== undefined) await finishSession(this.#openSession, status, options);
    } finally {
      await this.#connection.close();
    }
  }

  /** The failure of the work matters more than that of finishing the session, which becomes a message. */
  async #closeAfterFailure(error: unknown): Promise<void> {
    try {
      await this.close(reasonOf(error));
    } catch (failure) {
      const reason = failure instanceof Error ? failure.message : String(failure);
      notifyUser(this.#options.onServerMessage, { level: 'warning', text: `The session could not be finished. ${reason}` });
    }
  }
}
