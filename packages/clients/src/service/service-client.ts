import { randomUUID } from 'node:crypto';
import { type RetryInfo, type Transport, UndiciTransport } from '@tinkex/http';
import { outerRetryReport, ServiceReporter } from '@tinkex/telemetry/reporter';
import {
  consoleUrls,
  type EventSource,
  type GetServerCapabilitiesResponse,
  type LossFunction,
  type LossInputRanks,
  type OptimizerConfig,
  type OptimizerFamily,
} from '@tinkex/types';
import { traceLoss } from '@tinkex/types/custom-loss';
import { Futures } from '../futures/futures.js';
import type { CopiedWeights, CopyWeightsOptions } from '../rest/copy-weights.js';
import { RestClient } from '../rest/rest-client.js';
import type { CallOptions } from '../runtime/call-options.js';
import { CallScope, ClientLifetime, clientClosed } from '../runtime/call-scope.js';
import type { Runtime } from '../runtime/runtime.js';
import { SharedWork } from '../runtime/shared-work.js';
import type { Trouble } from '../runtime/wait-for.js';
import {
  checkSamplerOptions,
  type SamplerOptions,
  SamplingClient,
  type SamplingClientOptions,
  type SamplingService,
} from '../sampling/sampling-client.js';
import { joinSampler, parseSamplingHandle, type SamplingClientHandle } from '../sampling/sampling-handle.js';
import { checkLoraModel, checkOptimizer, createLoraModel, createModelFromState } from '../training/create-model.js';
import type { LossHandle } from '../training/loss-handle.js';
import type { TrainingParts } from '../training/operations.js';
import { optimizerOf } from '../training/optimizer-settings.js';
import { checkResumeOptions, findNewestCheckpoint, type ResumedTraining, type ResumeOptions } from '../training/resume.js';
import { type CustomLossOptions, SessionLosses } from '../training/session-losses.js';
import { TrainingClient } from '../training/training-client.js';
import type { FromStateOptions, FromWeightsOptions, LoraTrainingOptions } from '../training/training-options.js';
import { type ClientParts, createClientParts } from './client-parts.js';
import { chooseCredential } from './credentials.js';
import { keepDynamicConfig } from './dynamic-config.js';
import { EXPORT_METADATA, exportWeights } from './export-weights.js';
import { FailureReports } from './failure-reports.js';
import { type ResolvedOptions, resolveOptions } from './resolve-options.js';
import type { ServiceClientOptions } from './service-options.js';
import { type Started, startConnection } from './start-connection.js';
import { keepSessionAlive, startSession } from './start-session.js';

/** How long `close()` waits for the last reports. */
const LAST_REPORT_MS = 1_000;
const NOT_SENT = 'The call was not sent.';

type SessionClientParts = ClientParts & TrainingParts;

/** A call's options with the signal that covers its time limit, start included. */
type Step<Options> = Omit<Options, 'timeoutMs'> & { readonly signal: AbortSignal; readonly timeoutMs?: undefined };

/**
 * The entry point: connects to one server with one credential, and creates the clients that train, sample and manage.
 *
 * The constructor does no I/O: the configuration, the credential exchange and the session follow with the first call that needs them. Two
 * clients in one process share nothing but the rate limiter of an equal base URL and key. Close it when you are done, or declare it with
 * `await using`; a process that forgets still exits.
 *
 * @throws `ConfigurationError` for unknown or invalid options, immediately.
 */
export class ServiceClient implements AsyncDisposable, SamplingService {
  readonly #options: ResolvedOptions;
  readonly #userOptions: ServiceClientOptions;
  readonly #transport: Transport;
  readonly #clientId = randomUUID();
  readonly #reports = new FailureReports((sessionId) => this.#createReporter(sessionId));
  readonly #runtime: Runtime;
  readonly #connection: SharedWork<ClientParts>;
  readonly #session: SharedWork<SessionClientParts>;
  readonly #losses = new SessionLosses();
  readonly #adoptedSessions = new Set<string>();
  #started: Started | undefined;
  #dynamicConfig: (() => Started['dynamicConfig']) | undefined;
  #startTrouble: Trouble | undefined;
  #sessionId: string | undefined;
  #nextModelSeqId = 0;
  #nextSamplingSessionSeqId = 0;
  #closing: Promise<void> | undefined;

  /** Waits for results that another process requested. */
  readonly futures: Futures;

  constructor(options: ServiceClientOptions = {}) {
    this.#options = resolveOptions(options);
    this.#userOptions = options;
    if (this.#options.isHosted) chooseCredential(this.#options);
    const { transport, dispatcher, clock, random } = this.#options;
    this.#transport = transport ?? new UndiciTransport({ dispatcher });
    const source = () => this.eventSource();
    this.#runtime = { clock, random, lifetime: new ClientLifetime(), source, report: this.#reports };
    const trouble = () => this.#startTrouble;
    this.#connection = new SharedWork(this.#runtime, { what: 'the connection to start', consequence: NOT_SENT, trouble });
    this.#session = new SharedWork(this.#runtime, { what: 'the session to start', consequence: NOT_SENT, trouble });
    this.futures = Futures.of(this.#runtime, (waitOptions) => this.#connect(waitOptions));
  }

  /** The server's address, normalized. */
  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  /** The page of the session in the web console of the hosted service; that of all sessions while there is none. */
  get consoleUrl(): string {
    return this.#sessionId === undefined ? consoleUrls.sessions() : consoleUrls.session(this.#sessionId);
  }

  /** Identifies this client in events: its `clientId` distinguishes it from other clients where events are consumed. */
  eventSource(): EventSource {
    const base = { clientId: this.#clientId, baseUrl: this.#options.baseUrl };
    return this.#sessionId === undefined ? base : { ...base, sessionId: this.#sessionId };
  }

  /** The session's ID. Starts the session if there is none yet. */
  async sessionId(options: CallOptions = {}): Promise<string> {
    const { session } = await this.#connectSession(options);
    return session.sessionId;
  }

  /** The models that you can train and sample. Needs no session. */
  async getServerCapabilities(options: CallOptions = {}): Promise<GetServerCapabilitiesResponse> {
    return this.#run(options, this.#connect, ({ calls }, step) => calls.call('getServerCapabilities', {}, step));
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
    return this.#run(options, this.#connectSession, async (parts, step) =>
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
    return this.#run(options, this.#connectSession, (parts, step) => SamplingClient.create(parts, parts.session, step));
  }

  /**
   * Continues a sampling client of another thread or process, and keeps its session alive.
   *
   * @param handle - The result of `samplingClient.toJSON()` there.
   * @throws `ConfigurationError` when the handle is invalid.
   */
  async attachSamplingClient(handle: SamplingClientHandle, options: SamplerOptions = {}): Promise<SamplingClient> {
    const { samplingSessionId, sessionId, recordStabilityInfo: isRecorded } = parseSamplingHandle(handle);
    const parts = await this.#connect(options);
    if (sessionId !== undefined && sessionId !== this.#sessionId && !this.#adoptedSessions.has(sessionId)) {
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
    return this.#run(options, this.#connectSession, (parts, step) => this.#losses.create(parts, definition, step));
  }

  /** Creates a client that manages runs, checkpoints, sessions and bills. Needs no session. */
  createRestClient(): RestClient {
    return RestClient.of((options, work) => this.#run(options, this.#connect, work), this.#options);
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
    const { trainingRunId, path, withOptimizer = true } = options;
    return this.#run(options, this.#connect, async ({ calls, runtime: { clock } }, step) => {
      if (path !== undefined) return { training: await this.#createFromState(path, withOptimizer, step), path };
      const checkpoint = await findNewestCheckpoint(calls, trainingRunId as string, step, clock);
      const { tinkerPath } = checkpoint;
      return { training: await this.#createFromState(tinkerPath, withOptimizer, step), path: tinkerPath, checkpoint };
    });
  }

  /**
   * Ends the session's heartbeats, every wait (`AbortedError`) and every connection. Idempotent. Operations that the server has accepted
   * still run there.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #connect(options: CallOptions = {}): Promise<ClientParts> {
    return this.#connection.wait((signal) => this.#startConnection(signal), options);
  }

  #connectSession(options: CallOptions): Promise<SessionClientParts> {
    return this.#session.wait((signal) => this.#startSession(signal), options);
  }

  async #startConnection(signal: AbortSignal): Promise<ClientParts> {
    const { lifetime, source } = this.#runtime;
    this.#started = await startConnection(
      {
        options: this.#options,
        transport: this.#transport,
        lifetime,
        source,
        onFailedRound: (failure) => this.#reports.event(outerRetryReport(failure)),
        onHttpRetry: (retry) => this.#noteTrouble(retry),
      },
      signal,
    );
    const started = { ...this.#started, dynamicConfig: () => this.#dynamicConfig?.() ?? this.#started?.dynamicConfig };
    return createClientParts(this.#options, started, this.#runtime, this.#transport, (path, step) =>
      exportWeights(this.#createSibling({ userMetadata: EXPORT_METADATA }), path, step),
    );
  }

  async #startSession(signal: AbortSignal): Promise<SessionClientParts> {
    const parts = await this.#connect({ signal });
    const sessionId = await startSession(parts, this.#options, signal);
    // Closed in the meantime, perhaps because of the server's message: nothing would end what starts now.
    if (this.#closing !== undefined) throw clientClosed();
    this.#sessionId = sessionId;
    this.#refreshConfig(parts);
    this.#reports.startSession(sessionId);
    return { ...parts, session: { sessionId, nextSamplingSessionSeqId: () => this.#nextSamplingSessionSeqId++ } };
  }

  /** Remembers the last failed attempt, for callers that give up waiting for the start. */
  #noteTrouble({ error, status }: RetryInfo): void {
    this.#startTrouble = { text: error instanceof Error ? error.message : `status ${status}`, cause: error };
  }

  /** This client owns its reporters: closing another client never stops them. */
  #createReporter(sessionId: string): ServiceReporter | undefined {
    const { isTelemetryEnabled, sdkVersion, clock, random } = this.#options;
    const http = this.#started?.http;
    if (!isTelemetryEnabled || http === undefined) return undefined;
    return new ServiceReporter({ http, sessionId, sdkVersion, clock, random });
  }

  #refreshConfig({ calls, runtime: { clock, lifetime } }: ClientParts): void {
    const initial = this.#started?.dynamicConfig;
    if (initial === undefined) return;
    const { sdkVersion } = this.#options;
    const fetch = () => calls.call('clientDynamicConfig', { body: { sdkVersion } }, { hasOuterRetry: false });
    this.#dynamicConfig = keepDynamicConfig({ clock, lifetime, initial, fetch });
  }

  async #createFromState(path: string, hasOptimizer: boolean, options: FromStateOptions, optimizer?: OptimizerConfig) {
    const modelSeqId = this.#nextModelSeqId++;
    return this.#run(options, this.#connectSession, async (parts, step) => {
      const connectAs = (apiKey: string) => {
        const sibling = this.#createSibling({ apiKey });
        return { calls: sibling.#connect(step).then(({ calls }) => calls), close: () => sibling.close() };
      };
      const request = { path, hasOptimizer, optimizer, modelSeqId, options: step, connectAs };
      const { modelId, loadPath, optimizer: created } = await createModelFromState(parts, request);
      const client = TrainingClient.of<OptimizerFamily>(parts, modelId, created);
      if (loadPath !== undefined) await (hasOptimizer ? client.loadStateWithOptimizer(loadPath, step) : client.loadState(loadPath, step));
      return client;
    });
  }

  /** Runs a call that first waits for the connection or the session. The caller's time limit covers that wait and all steps of the work. */
  async #run<Options extends CallOptions, Parts extends ClientParts, T>(
    options: Options,
    connect: (this: ServiceClient, options: CallOptions) => Promise<Parts>,
    work: (parts: Parts, step: Step<Options>) => Promise<T>,
  ): Promise<T> {
    const startedAtMs = this.#runtime.clock.now();
    const parts = await connect.call(this, options);
    try {
      const scope = new CallScope(this.#runtime, options, startedAtMs);
      return await scope.run((signal) => work(parts, { ...options, signal, timeoutMs: undefined }));
    } catch (error) {
      if ('session' in parts) this.#reports.capture(error);
      else this.#reports.captureWithoutSession(error);
      throw error;
    }
  }

  /** Another client of the same server, with a separate session. */
  #createSibling(options: ServiceClientOptions): ServiceClient {
    return new ServiceClient({ ...this.#userOptions, baseUrl: this.#options.baseUrl, ...options });
  }

  async #close(): Promise<void> {
    await this.#reports.close({ timeoutMs: LAST_REPORT_MS });
    this.#runtime.lifetime.close();
    if (this.#options.transport === undefined) await this.#transport.close();
  }
}
