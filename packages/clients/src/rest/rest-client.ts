import {
  type AuditLogResponse,
  type BillingUsageResponse,
  type Checkpoint,
  type CheckpointArchiveUrlResponse,
  type CheckpointsListResponse,
  type GetSamplerResponse,
  type GetSessionResponse,
  type ListSessionsResponse,
  parseTinkerPath,
  type TrainingRun,
  type TrainingRunsResponse,
  type WeightsInfoResponse,
  type WhoamiResponse,
} from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import type { EndpointCall, EndpointKey, EndpointResponse } from '../calls/endpoint-types.js';
import { type DownloadCheckpointOptions, type DownloadedCheckpoint, downloadCheckpoint } from '../checkpoints/download-checkpoint.js';
import { waitFor } from '../runtime/wait-for.js';
import type { Connection } from '../service/connection.js';
import { archiveUrl } from './archive-url.js';
import { changeOnce, type OnceOnlyChange } from './change-once.js';
import { checkpointArchivePath } from './checkpoint-address.js';
import { identityOf } from './identity.js';
import { PageStream } from './page-stream.js';
import { exportTrace } from './trace-export.js';

/** Whose records a query covers. Default `owned`. */
export interface ScopeOptions extends CallOptions {
  readonly accessScope?: 'owned' | 'accessible';
}

/** Which part of a list to start with. */
export interface ListOptions extends CallOptions {
  /** Items per page. */
  readonly limit?: number;
  /** Items to skip. Default 0. */
  readonly offset?: number;
}

/** Options of `listTrainingRuns`. */
export interface ListTrainingRunsOptions extends ListOptions, ScopeOptions {
  /** Only runs of this project. */
  readonly projectId?: string;
}

/** Options of `getAuditLog`. */
export interface AuditLogOptions extends CallOptions {
  /** Default `all`. */
  readonly eventType?: 'all' | 'checkpoints';
  /** A day in UTC, `YYYY-MM-DD`. Default: today on the server. */
  readonly day?: string;
}

/**
 * Looks after what is stored on the service: training runs, checkpoints, sessions, samplers, logs and bills. Needs no session of its
 * own. Make it with `service.createRestClient()`.
 *
 * Reads and changes are retried after faults, 408, 409, 429 and 5xx. Methods throw the errors of `@tinkex/types`; a path that is no
 * `tinker://` path is a `ValidationError` before anything is sent.
 */
export class RestClient {
  readonly #withConnection: WithConnection;

  /** @internal Use `service.createRestClient()`. */
  constructor(withConnection: WithConnection) {
    this.#withConnection = withConnection;
  }

  /** One training run. */
  getTrainingRun(trainingRunId: string, { accessScope = 'owned', ...options }: ScopeOptions = {}): Promise<TrainingRun> {
    return this.#call('getTrainingRun', { params: { trainingRunId }, query: { accessScope } }, options);
  }

  /** The training run that a checkpoint belongs to. */
  async getTrainingRunByTinkerPath(tinkerPath: string, options: ScopeOptions = {}): Promise<TrainingRun> {
    return this.getTrainingRun(parseTinkerPath(tinkerPath).trainingRunId, options);
  }

  /** What is needed to load a checkpoint: base model, rank, trained parts. Works for other users' public checkpoints too. */
  async getWeightsInfoByTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<WeightsInfoResponse> {
    parseTinkerPath(tinkerPath);
    return this.#call('weightsInfo', { body: { tinkerPath } }, options);
  }

  /** Training runs, newest first. Page size 20 unless `limit` says otherwise. */
  listTrainingRuns(options: ListTrainingRunsOptions = {}): PageStream<TrainingRun, TrainingRunsResponse> {
    const { limit = 20, offset = 0, accessScope = 'owned', projectId, ...callOptions } = options;
    const filter = { accessScope, ...(projectId === undefined ? {} : { projectId }) };
    return new PageStream({
      limit,
      offset,
      fetch: (range) => this.#call('listTrainingRuns', { query: { ...range, ...filter } }, callOptions),
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
  listUserCheckpoints({ limit = 100, offset = 0, ...options }: ListOptions = {}): PageStream<Checkpoint, CheckpointsListResponse> {
    return new PageStream({
      limit,
      offset,
      fetch: (range) => this.#call('listUserCheckpoints', { query: range }, options),
      items: ({ checkpoints }) => checkpoints,
      total: ({ cursor }) => cursor?.totalCount,
      pageSize: ({ cursor }) => cursor?.limit,
    });
  }

  /**
   * A signed URL of a checkpoint's archive and when it expires. Treat the URL as a secret. Waits while the server builds the archive.
   *
   * @param checkpointId - `weights/{name}` or `sampler_weights/{name}`; a bare name on servers that use those.
   */
  async getCheckpointArchiveUrl(
    trainingRunId: string,
    checkpointId: string,
    options: CallOptions = {},
  ): Promise<CheckpointArchiveUrlResponse> {
    const path = checkpointArchivePath(trainingRunId, checkpointId);
    return this.#withConnection(options, (connection, step) => archiveUrl(connection, path, step));
  }

  /** As {@link getCheckpointArchiveUrl}, by path. */
  async getCheckpointArchiveUrlFromTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<CheckpointArchiveUrlResponse> {
    const { trainingRunId, checkpointId } = parseTinkerPath(tinkerPath);
    return this.getCheckpointArchiveUrl(trainingRunId, checkpointId, options);
  }

  /** Fetches a checkpoint's archive and extracts it into a directory, safely and all or nothing. */
  async downloadCheckpoint(tinkerPath: string, options: DownloadCheckpointOptions = {}): Promise<DownloadedCheckpoint> {
    parseTinkerPath(tinkerPath);
    return this.#withConnection(options, ({ transport, clock, source }, step) => {
      const { signal, headers } = step;
      const callOptions = { signal, ...(headers === undefined ? {} : { headers }) };
      const archiveUrl = async (path: string): Promise<string> => (await this.getCheckpointArchiveUrlFromTinkerPath(path, callOptions)).url;
      return downloadCheckpoint({ transport, clock, source, archiveUrl }, tinkerPath, step);
    });
  }

  /**
   * Deletes a checkpoint for good. `NotFoundError` when there is none; not when only the reply of an earlier attempt of this call was
   * lost and a later one finds the checkpoint gone.
   */
  async deleteCheckpoint(trainingRunId: string, checkpointId: string, options: CallOptions = {}): Promise<void> {
    await this.#change('deleteCheckpoint', { trainingRunId, checkpointId }, options);
  }

  /** As {@link deleteCheckpoint}, by path. */
  async deleteCheckpointFromTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<void> {
    await this.#change('deleteCheckpoint', checkpointOf(tinkerPath), options);
  }

  /** Makes a checkpoint public. */
  async publishCheckpointFromTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<void> {
    await this.#change('publishCheckpoint', checkpointOf(tinkerPath), options);
  }

  /** Makes a checkpoint private again. */
  async unpublishCheckpointFromTinkerPath(tinkerPath: string, options: CallOptions = {}): Promise<void> {
    await this.#change('unpublishCheckpoint', checkpointOf(tinkerPath), options);
  }

  /** Lets a checkpoint expire after so many seconds from now; `null` keeps it for ever. */
  async setCheckpointTtlFromTinkerPath(tinkerPath: string, ttlSeconds: number | null, options: CallOptions = {}): Promise<void> {
    await this.#call('setCheckpointTtl', { params: checkpointOf(tinkerPath), body: { ttlSeconds } }, options);
  }

  /** The runs and samplers of a session. */
  getSession(sessionId: string, { accessScope = 'owned', ...options }: ScopeOptions = {}): Promise<GetSessionResponse> {
    return this.#call('getSession', { params: { sessionId }, query: { accessScope } }, options);
  }

  /** Session ids. Page size 20 unless `limit` says otherwise. */
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
    return this.#withConnection(options, (connection, step) => exportTrace(connection, sessionId, step));
  }

  /** Who the credential belongs to, by its claims. Asks the server for nothing but, once, the token. */
  async whoami(options: CallOptions = {}): Promise<WhoamiResponse> {
    return this.#withConnection(options, async ({ credential, clock, config }, step) =>
      identityOf(await waitFor(credential(), clock, step, 'the credential'), config.pjwtAuthEnabled),
    );
  }

  /** One sampler: its base model and weights. */
  getSampler(samplerId: string, options: CallOptions = {}): Promise<GetSamplerResponse> {
    return this.#call('getSampler', { params: { samplerId } }, options);
  }

  /** What happened on a day. Needs an administrator's key. */
  getAuditLog({ eventType = 'all', day, ...options }: AuditLogOptions = {}): Promise<AuditLogResponse> {
    return this.#call('auditLog', { query: { eventType, ...(day === undefined ? {} : { day }) } }, options);
  }

  /**
   * Usage events between two times, which must be full UTC hours at most 14 days apart. Text is sent by the protocol's rules: UTC as
   * `Z`, other zones as they are. Needs a key that may see bills.
   */
  getBillingUsage(startingOn: Date | string, endingBefore: Date | string, options: CallOptions = {}): Promise<BillingUsageResponse> {
    return this.#call('billingUsage', { query: { startingOn, endingBefore } }, options);
  }

  async #call<Key extends EndpointKey>(key: Key, request: EndpointCall<Key>, options: CallOptions): Promise<EndpointResponse<Key>> {
    return this.#withConnection(options, (connection, step) => connection.call(key, request, step));
  }

  async #change(key: OnceOnlyChange, params: Readonly<Record<string, string>>, options: CallOptions): Promise<void> {
    return this.#withConnection(options, (connection, step) => changeOnce(connection, key, params, step));
  }
}

/** The values a checkpoint's path gives to the endpoints. Throws `ValidationError`. */
function checkpointOf(tinkerPath: string): { trainingRunId: string; checkpointId: string } {
  const { trainingRunId, checkpointId } = parseTinkerPath(tinkerPath);
  return { trainingRunId, checkpointId };
}

/** Does the work of a call with the connection, which is started if need be. The steps of the work get the options without the time limit, which is one for all. */
export type WithConnection = <Options extends CallOptions, T>(
  options: Options,
  work: (connection: Connection, step: Options & { readonly signal: AbortSignal }) => Promise<T>,
) => Promise<T>;
