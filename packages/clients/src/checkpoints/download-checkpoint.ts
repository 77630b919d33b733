import { type Clock, elapsedMs, hasSubscribers, publish, type Transport } from '@tinkex/http';
import { AbortedError, type EventSource, parseCheckpointPath } from '@tinkex/types';
import { fileSystem, paths } from '../node-files.js';
import type { CallOptions } from '../runtime/call-options.js';
import { notifyUser } from '../runtime/notify-user.js';
import type { CheckpointContent } from './checkpoint-content.js';
import { explainDiskError } from './disk-error.js';
import { DownloadJournal } from './download-journal.js';
import { type ExtractOptions, type ExtractResult, extractArchive } from './extract-archive.js';
import { fetchFiles } from './fetch-files.js';
import { copyLocalCheckpoint, localUrlOf, requireLocalFilesAllowed } from './local-checkpoint.js';
import { removeStrays } from './remove-strays.js';
import type { DownloadProgress } from './resumable-download.js';
import { refuseExisting, StagingDirectory } from './staging-directory.js';

const GIBIBYTE = 1024 ** 3;
const EVENT_STEP_BYTES = 4 * 1024 * 1024;

/** Options of a checkpoint download. */
export interface DownloadCheckpointOptions extends CallOptions {
  /**
   * Where the files go. A download into the same directory that was killed is continued; one that is still in progress is a `ConfigurationError`.
   * Default: the checkpoint's path with `/` as `_` and `:` as `-`, in the current directory. Must not
   * exist.
   */
  readonly directory?: string | undefined;
  /** Replace an existing directory, once the new one is complete. Default false. */
  readonly overwrite?: boolean | undefined;
  /** Called for each block received. What it throws is printed as a warning and changes nothing. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Ends the download; nothing is left on disk. */
  readonly signal?: AbortSignal | undefined;
  /** Limit of the whole download in milliseconds, including the export or the wait for the archive. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Sent with the requests to the service, not to signed URLs, which may belong to another host. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Limit on the files, and on the archive if there is one, bytes. Default 64 GiB. */
  readonly maxBytes?: number | undefined;
  /** Limit on files, and on directories in an archive. Default 10,000. */
  readonly maxEntries?: number | undefined;
  /** Longest time without a byte before the download reconnects and resumes, milliseconds. Default 60,000. */
  readonly stallTimeoutMs?: number | undefined;
  /**
   * Copy the checkpoint from this machine's disk when the server names a place there (`file:`) instead of a download. Allow it only for a
   * server that you trust: it decides what is copied. Default false: such a checkpoint is a `ConfigurationError` that names the place.
   */
  readonly allowLocalFiles?: boolean | undefined;
}

/** A checkpoint on disk. */
export interface DownloadedCheckpoint {
  /** Absolute path of the directory. */
  readonly directory: string;
  readonly fileCount: number;
  /** Size of the files. */
  readonly totalBytes: number;
  /** How much was received: the files themselves, or the archive they came in. 0 for a copy from the disk. */
  readonly receivedBytes: number;
  /** How much of that an earlier process had received already, before it was killed. */
  readonly resumedBytes: number;
}

/** What a download uses of its client. */
export interface DownloadContext {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly source: () => EventSource;
  /** Finds out what the checkpoint can be downloaded as, and signs its URLs. */
  readonly openContent: () => Promise<CheckpointContent>;
}

/** The folders inside a staging directory: what is received, and what is extracted from it. */
const RECEIVED = 'received';
const EXTRACTED = 'files';

/**
 * Fetches the files of a checkpoint, or an archive of them, which it extracts. The directory appears at the end, complete, by one rename;
 * on failure or abort nothing is left behind, neither on disk nor on the server. What a killed process has left is continued. See
 * {@link fetchFiles} and {@link extractArchive} for what is refused.
 */
export async function downloadCheckpoint(
  context: DownloadContext,
  tinkerPath: string,
  options: DownloadCheckpointOptions = {},
): Promise<DownloadedCheckpoint> {
  parseCheckpointPath(tinkerPath);
  const { overwrite = false } = options;
  const target = paths().resolve(options.directory ?? checkpointDirectoryName(tinkerPath));
  try {
    await using staging = await StagingDirectory.claim(target);
    if (!overwrite) await refuseExisting(target);
    const content = await context.openContent();
    try {
      const { folder, ...fetched } = await fetchContent(context, content, staging, tinkerPath, options);
      await staging.publish(folder, overwrite);
      return { directory: target, ...fetched };
    } finally {
      await content.close();
    }
  } catch (error) {
    throw explainDiskError(error, target);
  }
}

/** Fetches the content into a folder of the staging directory, and names the folder with the checkpoint's files. */
async function fetchContent(
  context: DownloadContext,
  content: CheckpointContent,
  staging: StagingDirectory,
  tinkerPath: string,
  options: DownloadCheckpointOptions,
): Promise<Omit<DownloadedCheckpoint, 'directory'> & { readonly folder: string }> {
  const { transport, clock } = context;
  const { signal, maxBytes = 64 * GIBIBYTE, maxEntries = 10_000, stallTimeoutMs = 60_000 } = options;
  await using journal = await DownloadJournal.open(staging.path, [RECEIVED], { tinkerPath, isArchive: content.isArchive });
  const received = paths().join(staging.path, RECEIVED);
  await fileSystem().mkdir(received, { recursive: true, mode: 0o755 });
  const localUrl = localUrlOf(content);
  if (localUrl !== undefined) {
    requireLocalFilesAllowed(localUrl, options.allowLocalFiles === true);
    return copyLocal(localUrl, received, staging, { maxBytes, maxEntries, signal });
  }
  const onProgress = progressReporter(context, tinkerPath, options.onProgress);
  const fetched = await fetchFiles(content, received, {
    transport,
    clock,
    journal,
    maxBytes,
    maxEntries,
    stallTimeoutMs,
    onProgress,
    signal,
  });
  const receivedBytes = fetched.totalBytes;
  if (signal?.aborted) throw new AbortedError({ message: 'The checkpoint download was aborted.', cause: signal.reason });
  if (!content.isArchive) {
    onProgress({ receivedBytes, totalBytes: receivedBytes });
    return { folder: RECEIVED, ...fetched, receivedBytes };
  }
  const [archiveName] = Object.keys(content.signed.urls);
  const files = await extract(paths().join(received, archiveName as string), staging, { maxBytes, maxEntries, signal });
  return { ...files, receivedBytes, resumedBytes: fetched.resumedBytes };
}

async function copyLocal(
  url: string,
  received: string,
  staging: StagingDirectory,
  options: ExtractOptions,
): Promise<Omit<DownloadedCheckpoint, 'directory'> & { readonly folder: string }> {
  await removeStrays(received, []);
  const copied = await copyLocalCheckpoint(url, received, options);
  const nothing = { receivedBytes: 0, resumedBytes: 0 };
  if ('archivePath' in copied) return { ...(await extract(copied.archivePath, staging, options)), ...nothing };
  return { folder: RECEIVED, ...copied, ...nothing };
}

async function extract(archive: string, staging: StagingDirectory, options: ExtractOptions): Promise<ExtractResult & { folder: string }> {
  const extracted = paths().join(staging.path, EXTRACTED);
  await fileSystem().rm(extracted, { recursive: true, force: true, maxRetries: 3 });
  await fileSystem().mkdir(extracted, { mode: 0o755 });
  const files = await extractArchive(archive, extracted, options);
  const { signal } = options;
  if (signal?.aborted) throw new AbortedError({ message: 'The checkpoint download was aborted.', cause: signal.reason });
  return { folder: EXTRACTED, ...files };
}

/** `tinker://run-123/weights/final` as a directory name: `run-123_weights_final`. */
export function checkpointDirectoryName(tinkerPath: string): string {
  return tinkerPath.replace(/^tinker:\/\//, '').replaceAll(/[/\\:]/g, (character) => (character === ':' ? '-' : '_'));
}

function progressReporter(
  context: DownloadContext,
  path: string,
  onProgress: DownloadCheckpointOptions['onProgress'],
): (progress: DownloadProgress) => void {
  const startedAt = context.clock.monotonicMs();
  let publishedBytes = 0;
  return (progress) => {
    notifyUser(onProgress, progress);
    const isDue = progress.receivedBytes - publishedBytes >= EVENT_STEP_BYTES || progress.receivedBytes === progress.totalBytes;
    if (!isDue || !hasSubscribers('tinkex:checkpoint:download')) return;
    publishedBytes = progress.receivedBytes;
    const { receivedBytes, totalBytes } = progress;
    publish('tinkex:checkpoint:download', {
      ...context.source(),
      path,
      receivedBytes,
      totalBytes,
      durationMs: elapsedMs(context.clock, startedAt),
    });
  };
}
