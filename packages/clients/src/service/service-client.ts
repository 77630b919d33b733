import {
  consoleUrls,
  type EventSource,
  type GetServerCapabilitiesResponse,
  type LossFunction,
  type LossInputRanks,
  type OptimizerConfig,
  type OptimizerFamily,
  type SessionFinishReason,
} from '@tinkex/types';
import { traceLoss } from '@tinkex/types/custom-loss';
import { showAs } from '@tinkex/types/wire';
import { Connection, type ConnectionParts, type Step } from '../connection/connection.js';
import type { Started } from '../connection/start-connection.js';
import { Futures } from '../futures/futures.js';
import type { CopiedWeights, CopyWeightsOptions } from '../rest/copy-weights.js';
import { RestClient } from '../rest/rest-client.js';
import type { CallOptions } from '../runtime/call-options.js';
import { clientClosed } from '../runtime/call-scope.js';
import type { SharedWork } from '../runtime/shared-work.js';
import {
  checkSamplerOptions,
  type SamplerOptions,
  SamplingClient,
  type SamplingClientOptions,
  type SamplingService,
} from '../sampling/sampling-client.js';
import { joinSampler, parseSamplingHandle, type SamplingClientHandle } from '../sampling/sampling-handle.js';
import { checkLoraModel, checkOptimizer, checkStatePath, createLoraModel, createModelFromState } from '../training/create-model.js';
import type { LossHandle } from '../training/loss-handle.js';
import type { TrainingParts } from '../training/operations.js';
import { optimizerOf } from '../training/optimizer-settings.js';
import { checkResumeOptions, findResumePoint, type ResumedTraining, type ResumeOptions, resumedFrom } from '../training/resume.js';
import { type CustomLossOptions, SessionLosses } from '../training/session-losses.js';
import { TrainingClient } from '../training/training-client.js';
import type { FromStateOptions, FromWeightsOptions, LoraTrainingOptions } from '../training/training-options.js';
import { type ChatClientOptions, type ChatModel, chatClientOptions, type NamedChatClientOptions } from './chat-endpoints.js';
import { type ClientParts, createClientParts } from './client-parts.js';
import { keepDynamicConfig } from './dynamic-config.js';
import { EXPORT_METADATA, exportWeights } from './export-weights.js';
import { type CloseOptions, finishSession, runAndClose } from './finish-session.js';
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
  readonly #userOptions: ServiceClientOptions;
  readonly #connection: Connection<ClientParts>;
  readonly #session: SharedWork<SessionClientParts>;
  readonly #losses = new SessionLosses();
  readonly #adoptedSessions = new Set<string>();
  #openSession: { readonly sessionId: string; readonly parts: ClientParts } | undefined;
  #dynamicConfig: (() => Started['dynamicConfig']) | undefined;
  #nextModelSeqId = 0;
  #nextSamplingSessionSeqId = 0;
  #closing: Promise<void> | undefined;

  /** Waits for results that another process requested. */
  readonly futures: Futures;

  static {
    showAs(ServiceClient, (client) => {
      const status = client.#closing !== undefined ? 'closed' : client.#openSession === undefined ? 'no session' : 'open';
      return { baseUrl: client.baseUrl, sessionId: client.#connection.sessionId, status };
    });
  }

  constructor(options: ServiceClientOptions = {}) {
    this.#options = resolveOptions(options);
    this.#userOptions = options;
    this.#connection = new Connection(this.#options, (parts, started) => this.#createParts(parts, started));
    this.#session = this.#connection.shareWork('the session to start');
    this.futures = Futures.of(this.#connection.runtime, (waitOptions) => this.#connection.connect(waitOptions));
  }

  /** The server's address, normalized. */
  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  /** The page of the session in the web console of the hosted service; that of all sessions while there is none. */
  get consoleUrl(): string {
    const { sessionId } = this.#connection;
    return sessionId === undefined ? consoleUrls.sessions() : consoleUrls.session(sessionId);
  }

  /**
   * Options for the official OpenAI client: `new OpenAI(await service.openAiOptions())` talks to the OpenAI-compatible endpoint of the hosted
   * service. With a model, `model` is its name for the requests. Makes no request.
   *
   * @example
   * ```ts
   * const { model, ...options } = await service.openAiOptions({ modelPath });
   * await new OpenAI(options).chat.completions.create({ model, messages });
   * ```
   *
   * @throws `ConfigurationError` when there is no API key.
   */
  openAiOptions(): Promise<ChatClientOptions>;
  openAiOptions(model: ChatModel): Promise<NamedChatClientOptions>;
  openAiOptions(model?: ChatModel): Promise<ChatClientOptions & Partial<NamedChatClientOptions>> {
    return chatClientOptions(this.#options, 'openai', model);
  }

  /** The same for the official Anthropic client: `new Anthropic(await service.anthropicOptions())`. */
  anthropicOptions(): Promise<ChatClientOptions>;
  anthropicOptions(model: ChatModel): Promise<NamedChatClientOptions>;
  anthropicOptions(model?: ChatModel): Promise<ChatClientOptions & Partial<NamedChatClientOptions>> {
    return chatClientOptions(this.#options, 'anthropic', model);
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
   * Creates a new LoRA adapter on a base model, trained with `optimizer` (default AdamW) for its whole life.
   *
   * @throws `ValidationError` before anything is sent when the options are invalid; otherwise the server's error.
   */
  async createLoraTrainingClient<Family extends OptimizerFamily = 'adamw'>(
    options: LoraTrainingOptions<Family>,
  ): Promise<TrainingClient<Family>> {
    checkLoraModel(options);
    const modelSeqId = this.#nextModelSeqId++;
    return this.#runInSession(options, async (parts, step) =>
      TrainingClient.of(parts, await createLoraModel(parts, modelSeqId, step), optimizerOf(options)),
    );
  }

  /** Creates a new model with saved weights and a new optimizer (default AdamW, whatever the weights were trained with). */
  async createTrainingClientFromState<Family extends OptimizerFamily = 'adamw'>(
    path: string,
    options: FromWeightsOptions<Family> = {},
  ): Promise<TrainingClient<Family>> {
    checkOptimizer(options);
    return this.#createFromState(path, false, options, optimizerOf(options)) as Promise<TrainingClient<Family>>;
  }

  /** Creates a new model that continues exactly where the checkpoint was saved: weights, and the optimizer with its state. */
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
    const { samplingSessionId, sessionId, recordStabilityInfo: isRecorded } = parseSamplingHandle(handle);
    const parts = await this.#connection.connect(options);
    if (sessionId !== undefined && sessionId !== this.#connection.sessionId && !this.#adoptedSessions.has(sessionId)) {
      this.#adoptedSessions.add(sessionId);
      keepSessionAlive(parts, sessionId, this.#options);
    }
    const { retry, recordStabilityInfo = isRecorded } = options;
    const seqIds = await joinSampler(parts, samplingSessionId, options);
    return SamplingClient.of(parts, { samplingSessionId, sessionId, seqIds, retry, recordStabilityInfo });
  }

  /**
   * Traces a loss of one datum and creates it in the session, for `training.forwardBackwardCustom`. The server runs it if it runs custom
   * losses, otherwise this process does, with equal results. `jaxLoss` of `@tinkex/clients/autodiff` traces losses written with jax-js.
   *
   * @throws `ValidationError` when the loss cannot be traced, or this session has created the same loss before.
   */
  async createCustomLoss<const Inputs extends LossInputRanks = Record<never, never>>(
    loss: LossFunction<Inputs>,
    options: CustomLossOptions<Inputs> = {},
  ): Promise<LossHandle> {
    const definition = traceLoss(loss, options);
    return this.#runInSession(options, (parts, step) => this.#losses.create(parts, definition, step));
  }

  /** Creates a client that manages runs, checkpoints, sessions and bills. Needs no session. */
  createRestClient(): RestClient {
    return RestClient.of((options, work) => this.#connection.run(options, work), this.#options);
  }

  /** Copies weights into this client's project. See `rest.copyWeights`, which also copies into other projects. */
  copyWeights(tinkerPath: string, options: CopyWeightsOptions = {}): Promise<CopiedWeights> {
    return this.createRestClient().copyWeights(tinkerPath, options);
  }

  /**
   * Continues training after a crash: finds the newest training checkpoint of a run (or uses the one you name) and creates a new model from
   * it with its optimizer state. The new model has the optimizer that the checkpoint was trained with.
   *
   * @throws `NotFoundError` when the run has no training checkpoint.
   */
  async resume(options: ResumeOptions): Promise<ResumedTraining> {
    checkResumeOptions(options);
    const { withOptimizer = true } = options;
    return this.#connection.run(options, async ({ calls, runtime: { clock } }, step) => {
      const from = await findResumePoint(calls, options, step, clock);
      const userMetadata = resumedFrom(from.path, options.userMetadata);
      return { ...from, training: await this.#createFromState(from.path, withOptimizer, { ...step, userMetadata }) };
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
    const { onServerMessage } = this.#options;
    return runAndClose(
      () => work(this),
      (status) => this.close(status),
      onServerMessage,
    );
  }

  async #connectSession(options: CallOptions): Promise<SessionClientParts> {
    if (this.#closing !== undefined) throw clientClosed();
    return this.#session.wait((signal) => this.#startSession(signal), options);
  }

  #createParts(parts: ConnectionParts, started: Started): ClientParts {
    this.#dynamicConfig = () => started.dynamicConfig;
    const latest = { ...started, dynamicConfig: () => this.#dynamicConfig?.() };
    return createClientParts(this.#options, parts, latest, (path, step) =>
      exportWeights(this.#createSibling({ userMetadata: EXPORT_METADATA }), path, step),
    );
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

  #refreshConfig({ calls, runtime: { clock, lifetime } }: ClientParts): void {
    const initial = this.#dynamicConfig?.();
    if (initial === undefined) return;
    const { sdkVersion } = this.#options;
    const fetch = () => calls.call('clientDynamicConfig', { body: { sdkVersion } }, { hasOuterRetry: false });
    this.#dynamicConfig = keepDynamicConfig({ clock, lifetime, initial, fetch });
  }

  async #createFromState(path: string, hasOptimizer: boolean, options: FromStateOptions, optimizer?: OptimizerConfig) {
    checkStatePath(path);
    const modelSeqId = this.#nextModelSeqId++;
    return this.#runInSession(options, async (parts, step) => {
      const connectAs = (apiKey: string) => {
        const sibling = this.#createSibling({ apiKey });
        return { calls: sibling.#connection.connect(step).then(({ calls }) => calls), close: () => sibling.close() };
      };
      const request = { path, hasOptimizer, optimizer, modelSeqId, options: step, connectAs };
      const { modelId, loadPath, optimizer: created } = await createModelFromState(parts, request);
      const client = TrainingClient.of<OptimizerFamily>(parts, modelId, created);
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

  /** Another client of the same server, with a separate session. */
  #createSibling(options: ServiceClientOptions): ServiceClient {
    return new ServiceClient({ ...this.#userOptions, baseUrl: this.#options.baseUrl, ...options });
  }

  async #close(status: SessionFinishReason, options: CloseOptions): Promise<void> {
    this.#connection.runtime.lifetime.endCalls();
    try {
      if (this.#openSession !== undefined) await finishSession(this.#openSession, status, options);
    } finally {
      await this.#connection.close();
    }
  }
}
