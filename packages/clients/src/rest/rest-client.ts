import {
  type Checkpoint,
  type CheckpointArchiveUrlResponse,
  type CheckpointsListResponse,
  type ExternalWeightsUrlsResponse,
  type GetSamplerResponse,
  type GetSessionResponse,
  type ListSessionsResponse,
  parseCheckpointPath,
  type SessionSearchRequest,
  type SessionSearchResponse,
  type SessionSummary,
  type TrainingRun,
  type TrainingRunsResponse,
  ValidationError,
  type WeightsInfoResponse,
  type WhoamiResponse,
} from '@tinkex/types';
import { showAs } from '@tinkex/types/wire';
import type { EndpointKey, EndpointRequest, EndpointResponse } from '../calls/endpoint-types.js';
import { type DownloadCheckpointOptions, type DownloadedCheckpoint, downloadCheckpoint } from '../checkpoints/download-checkpoint.js';
import type { ConnectionOptions } from '../connection/connection-options.js';
import type { CallOptions } from '../runtime/call-options.js';
import { waitFor } from '../runtime/wait-for.js';
import { checkpointArchivePath, requestArchiveUrl } from './archive-url.js';
import { changeOnce, type OnceOnlyChange } from './change-once.js';
import { openContent, requestArchiveByPath, requestFileUrls } from './checkpoint-content.js';
import { requestByPath } from './checkpoint-id.js';
import { type CopiedWeights, type CopyWeightsToProjectOptions, checkCopy, copyWeights } from './copy-weights.js';
import { identityOf } from './identity.js';
import { PageStream } from './page-stream.js';
import { RestConnection, type RestIdentity, type RunRestCall } from './rest-connection.js';
import { exportTrace } from './trace-export.js';

/** Whose records a query covers. Default `owned`. */
export interface ScopeOptions extends CallOptions {
  readonly accessScope?: 'owned' | 'accessible' | undefined;
}

/** Which part of a list to request. */
export interface ListOptions extends CallOptions {
  /** Items per page. */
  readonly limit?: number | undefined;
  /** Items to skip. Default 0. */
  readonly offset?: number | undefined;
}

/** Options of `listTrainingRuns`. */
export interface ListTrainingRunsOptions extends ListOptions, ScopeOptions {
  /** Only runs of this project. */
  readonly projectId?: string | undefined;
}

/**
 * Manages what is stored on the service: training runs, checkpoints, sessions and samplers. Needs no session. Create it with its own
 * connection, or with that of a service client (`service.createRestClient()`).
 *
 * The constructor makes no request. Close it when you are done, or declare it with `await using`; a process that forgets still exits.
 * Reads and changes are retried after connection faults, 408, 409, 429 and 5xx. Methods throw the errors of `@tinkex/types`; an invalid
 * `tinker://` path is a `ValidationError` before anything is sent.
 *
 * @throws `ConfigurationError` for unknown or invalid options, immediately.
 */
export class RestClient implements AsyncDisposable {
  readonly #connection: RestConnection;

  static {
    showAs(RestClient, (client) => ({ baseUrl: client.#connection.baseUrl, projectId: client.#connection.projectId }));
  }

  constructor(options: ConnectionOptions | RestConnection = {}) {
    this.#connection = options instanceof RestConnection ? options : RestConnection.open(options);
  }

  /** @internal Use `service.createRestClient()`. */
  static of(run: RunRestCall, identity: RestIdentity): RestClient {
    return new RestClient(RestConnection.borrow(run, identity));
  }

  /** One training run. */
  getTrainingRun(trainingRunId: string, options: ScopeOptions = {}): Promise<TrainingRun> {
    const { accessScope = 'owned' } = options;
    return this.#call('getTrainingRun', { params: { trainingRunId }, query: { accessScope } }, options);
  }

  /** The training run that a checkpoint belongs to. */
  async getTrainingRunByTinkerPath(tinkerPath: string, options: ScopeOptions = {}): Promise<TrainingRun> {
    const { trainingRunId } = parseCheckpointPath(tinkerPath);
    const { accessScope = 'owned' } = options;
    const method = 'getTrainingRunByTinkerPath';
    return this.#call('getTrainingRun', { params: { trainingRunId }, query: { accessScope } }, options, method);
  }

  /** What is needed to load a checkpoint: base model, rank, trained parts. Works for other users' public checkpoints too. */
  async getWeightsInfoByTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<WeightsInfoResponse> {
    parseCheckpointPath(tinkerPath);
    return this.#call('weightsInfo', { body: { tinkerPath } }, options, 'getWeightsInfoByTinkerPath');
  }

  /** Training runs, newest first. Page size 20 unless `limit` says otherwise. */
  listTrainingRuns(options: ListTrainingRunsOptions = {}): PageStream<TrainingRun, TrainingRunsResponse> {
    const { limit = 20, offset = 0, accessScope = 'owned', projectId, ...callOptions } = options;
    return new PageStream({
      limit,
      offset,
      fetch: (range) => this.#call('listTrainingRuns', { query: { ...range, accessScope, projectId } }, callOptions),
      items: ({ trainingRuns }) => trainingRuns,
      total: ({ cursor }) => cursor?.totalCount,
      pageSize: ({ cursor }) => cursor?.limit,
    });
  }

  /** All checkpoints of a run; the server does not divide this list into pages. */
  listCheckpoints(trainingRunId: string, options: CallOptions = {}): PageStream<Checkpoint, CheckpointsListResponse> {
    return new PageStream({
      limit: Number.POSITIVE_INFINITY,
      offset: 0,
      fetch: () => this.#call('listCheckpoints', { params: { trainingRunId } }, options),
      items: ({ checkpoints }) => checkpoints,
      total: ({ checkpoints }) => checkpoints.length,
    });
  }

  /** Checkpoints of all runs of the user, newest first. Page size 100 unless `limit` says otherwise. */
  listUserCheckpoints(options: ListOptions = {}): PageStream<Checkpoint, CheckpointsListResponse> {
    const { limit = 100, offset = 0, ...callOptions } = options;
    return new PageStream({
      limit,
      offset,
      fetch: (range) => this.#call('listUserCheckpoints', { query: range }, callOptions),
      items: ({ checkpoints }) => checkpoints,
      total: ({ cursor }) => cursor?.totalCount,
      pageSize: ({ cursor }) => cursor?.limit,
    });
  }

  /**
   * A signed URL of a checkpoint's archive and when it expires. Treat the URL as a secret. Waits while the server builds the archive. A server
   * without downloads may name a place on its own disk instead (`file:`).
   *
   * @param checkpointId - `weights/{name}`, `sampler_weights/{name}` or `external_weights/{name}`; a bare name on servers that use those.
   */
  async getCheckpointArchiveUrl(
    trainingRunId: string,
    checkpointId: string,
    options: CallOptions = {},
  ): Promise<CheckpointArchiveUrlResponse> {
    const path = checkpointArchivePath(trainingRunId, checkpointId);
    return this.#connection.run('getCheckpointArchiveUrl', options, (parts, step) => requestArchiveUrl(parts, path, step));
  }

  /** Like {@link getCheckpointArchiveUrl}, by path. */
  async getCheckpointArchiveUrlFromTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<CheckpointArchiveUrlResponse> {
    const { trainingRunId, checkpointId } = parseCheckpointPath(tinkerPath);
    checkpointArchivePath(trainingRunId, checkpointId);
    const method = 'getCheckpointArchiveUrl';
    return this.#connection.run(method, options, (parts, step) => requestArchiveByPath(parts, tinkerPath, step));
  }

  /** One signed URL for each file of an external checkpoint, and when they expire. Treat the URLs as secrets. */
  async getExternalWeightsUrls(tinkerPath: string, options: CallOptions = {}): Promise<ExternalWeightsUrlsResponse> {
    const { checkpointType = 'sampler' } = parseCheckpointPath(tinkerPath);
    if (checkpointType !== 'external') {
      const message = `is a ${checkpointType} checkpoint; only external_weights have files. Save them with saveWeightsExternal`;
      throw new ValidationError({ direction: 'request', subject: 'tinkerPath', issues: [{ path: tinkerPath, message }] });
    }
    return this.#connection.run('getExternalWeightsUrls', options, (parts, step) => requestFileUrls(parts, tinkerPath, step));
  }

  /**
   * Downloads the files of a checkpoint into a directory, safely and all or nothing. Training checkpoints are exported for the time of the
   * download, in a separate session that trains nothing. A server without external weights gives an archive, which is extracted.
   */
  async downloadCheckpoint(tinkerPath: string, options: DownloadCheckpointOptions = {}): Promise<DownloadedCheckpoint> {
    parseCheckpointPath(tinkerPath);
    return this.#connection.run('downloadCheckpoint', options, (parts, { signal, headers }) => {
      const { downloadTransport: transport, runtime } = parts;
      const open = () => openContent(parts, tinkerPath, { signal, headers });
      return downloadCheckpoint({ transport, ...runtime, openContent: open }, tinkerPath, { ...options, signal });
    });
  }

  /**
   * Copies a checkpoint into a project. The copy shares its storage with the source and keeps its kind. It belongs to a new training run,
   * which cannot be trained.
   */
  async copyWeights(tinkerPath: string, options: CopyWeightsToProjectOptions = {}): Promise<CopiedWeights> {
    const projectId = checkCopy(tinkerPath, options.destinationProjectId ?? this.#connection.projectId);
    return this.#connection.run('copyWeights', options, ({ calls }, step) => copyWeights(calls, tinkerPath, projectId, options, step));
  }

  /**
   * Deletes a checkpoint permanently. `NotFoundError` when there is none; not when only the reply to an earlier attempt of this call was
   * lost and a later attempt finds the checkpoint gone.
   */
  async deleteCheckpoint(trainingRunId: string, checkpointId: string, options: CallOptions = {}): Promise<void> {
    const params = { trainingRunId, checkpointId };
    await this.#connection.run('deleteCheckpoint', options, ({ calls }, step) => changeOnce(calls, 'deleteCheckpoint', params, step));
  }

  /** Like {@link deleteCheckpoint}, by path. */
  async deleteCheckpointFromTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<void> {
    await this.#changeByPath('deleteCheckpoint', tinkerPath, options, 'deleteCheckpointFromTinkerPath');
  }

  /** Makes a checkpoint public. */
  async publishCheckpointFromTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<void> {
    await this.#changeByPath('publishCheckpoint', tinkerPath, options, 'publishCheckpointFromTinkerPath');
  }

  /** Makes a checkpoint private again. */
  async unpublishCheckpointFromTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<void> {
    await this.#changeByPath('unpublishCheckpoint', tinkerPath, options, 'unpublishCheckpointFromTinkerPath');
  }

  /** Lets a checkpoint expire `ttlSeconds` from now; `null` keeps it forever. */
  async setCheckpointTtlFromTinkerPath(tinkerPath: string, ttlSeconds: number | null, options: CallOptions = {}): Promise<void> {
    parseCheckpointPath(tinkerPath);
    await this.#connection.run('setCheckpointTtlFromTinkerPath', options, ({ calls }, step) =>
      requestByPath(calls, tinkerPath, step, (params) => calls.call('setCheckpointTtl', { params, body: { ttlSeconds } }, step)),
    );
  }

  /** The runs and samplers of a session. */
  getSession(sessionId: string, options: ScopeOptions = {}): Promise<GetSessionResponse> {
    const { accessScope = 'owned' } = options;
    return this.#call('getSession', { params: { sessionId }, query: { accessScope } }, options);
  }

  /** Session IDs. Page size 20 unless `limit` says otherwise. */
  listSessions(options: ListOptions & ScopeOptions = {}): PageStream<string, ListSessionsResponse> {
    const { limit = 20, offset = 0, accessScope = 'owned', ...callOptions } = options;
    return new PageStream({
      limit,
      offset,
      fetch: (range) => this.#call('listSessions', { query: { ...range, accessScope } }, callOptions),
      items: ({ sessions }) => sessions,
    });
  }

  /** Moves a session, with its runs and samplers, to a project. */
  async assignSessionProject(sessionId: string, projectId: string, options: CallOptions = {}): Promise<void> {
    await this.#call('assignSessionProject', { params: { sessionId }, body: { projectId } }, options);
  }

  /** Has the server write a performance trace of a session; resolves to a signed URL, valid for about an hour. */
  async exportSessionTrace(sessionId: string, options: CallOptions = {}): Promise<string> {
    return this.#connection.run('exportSessionTrace', options, (parts, step) => exportTrace(parts, sessionId, step));
  }

  /** Who the credential belongs to, by its claims. Makes no request except, once, for the token. */
  async whoami(options: CallOptions = {}): Promise<WhoamiResponse> {
    return this.#connection.run('whoami', options, async ({ credential, isCredentialExchanged, runtime }, { signal }) =>
      identityOf(await waitFor(credential(), runtime.clock, { signal }, { what: 'the credential' }), isCredentialExchanged),
    );
  }

  /** One sampler: its base model and weights. */
  getSampler(samplerId: string, options: CallOptions = {}): Promise<GetSamplerResponse> {
    return this.#call('getSampler', { params: { samplerId } }, options);
  }

  /**
   * Searches sessions, newest first, by name, metadata, project, owner and status. Await it for the first page, or iterate over all.
   * Experimental on the service: it may change there.
   *
   * @throws `ValidationError` before anything is sent when the request is invalid, such as a `limit` beyond 200.
   */
  searchSessions(
    request: SessionSearchRequest = {},
    options: CallOptions = {},
  ): PageStream<SessionSummary, SessionSearchResponse, SessionSearchRequest> {
    return new PageStream({
      first: request,
      fetch: (body) => this.#call('searchSessions', { body }, options),
      items: ({ sessions }) => sessions,
      next: ({ nextCursor }) => (nextCursor === undefined ? undefined : { ...request, cursor: nextCursor }),
    });
  }

  /** Ends every call (`AbortedError`) and the connection, unless that belongs to a service client. Idempotent. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @param method - The public method, where the endpoint has another name. */
  #call<Key extends EndpointKey>(
    key: Key,
    request: EndpointRequest<Key>,
    options: CallOptions,
    method: string = key,
  ): Promise<EndpointResponse<Key>> {
    return this.#connection.call(method, key, request, options);
  }

  async #changeByPath(key: OnceOnlyChange, tinkerPath: string, options: CallOptions, method: string): Promise<void> {
    parseCheckpointPath(tinkerPath);
    await this.#connection.run(method, options, ({ calls }, step) =>
      requestByPath(calls, tinkerPath, step, (params) => changeOnce(calls, key, params, step)),
    );
  }
}
