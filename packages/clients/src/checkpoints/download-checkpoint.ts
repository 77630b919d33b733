import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Clock, hasSubscribers, publish, type Transport } from '@tinkex/http';
import { AbortedError, type EventSource, parseTinkerPath } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import { notifyUser } from '../runtime/notify-user.js';
import { extractArchive } from './extract-archive.js';
import { type DownloadProgress, downloadToFile } from './resumable-download.js';
import { refuseExisting, StagingDirectory } from './staging-directory.js';

const GIBIBYTE = 1024 ** 3;
const EVENT_STEP_BYTES = 4 * 1024 * 1024;

/** Options of a checkpoint download. */
export interface DownloadCheckpointOptions extends CallOptions {
  /** Where the files go. Default: the checkpoint's path with `/` as `_` and `:` as `-`, in the current directory. Must not exist. */
  readonly directory?: string | undefined;
  /** Replace an existing directory, once the new one is complete. Default false. */
  readonly overwrite?: boolean | undefined;
  /** Called for each block received. What it throws is printed as a warning and changes nothing. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Ends the download; nothing is left on disk. */
  readonly signal?: AbortSignal | undefined;
  /** Limit of the whole download in milliseconds, including the wait for the archive and its extraction. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Sent with the request for the archive's URL, not to the URL itself, which belongs to another host. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Limit on the archive and on the files in it, bytes. Default 64 GiB. */
  readonly maxBytes?: number | undefined;
  /** Limit on files and directories in the archive. Default 10,000. */
  readonly maxEntries?: number | undefined;
  /** Longest time without a byte before the download reconnects and resumes, milliseconds. Default 60,000. */
  readonly stallTimeoutMs?: number | undefined;
}

/** A checkpoint on disk. */
export interface DownloadedCheckpoint {
  /** Absolute path of the directory. */
  readonly directory: string;
  readonly fileCount: number;
  /** Size of the files. */
  readonly totalBytes: number;
  /** Size of the archive that was fetched. */
  readonly archiveBytes: number;
}

/** What a download uses of its client. */
export interface DownloadContext {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly source: () => EventSource;
  /** Requests the signed URL of the checkpoint's archive. */
  readonly archiveUrl: () => Promise<string>;
}

/**
 * Fetches a checkpoint's archive and extracts it. The directory appears at the end, complete, by one rename; on failure or abort
 * nothing is left behind. See {@link extractArchive} for what is refused.
 */
export async function downloadCheckpoint(
  context: DownloadContext,
  tinkerPath: string,
  options: DownloadCheckpointOptions = {},
): Promise<DownloadedCheckpoint> {
  parseTinkerPath(tinkerPath);
  const { signal, overwrite = false, maxBytes = 64 * GIBIBYTE, maxEntries = 10_000 } = options;
  const target = resolve(options.directory ?? checkpointDirectoryName(tinkerPath));
  if (!overwrite) await refuseExisting(target);
  const url = await context.archiveUrl();
  const staging = await StagingDirectory.beside(target);
  try {
    const archivePath = join(staging.path, 'archive.tar');
    const { receivedBytes } = await downloadToFile(archivePath, {
      transport: context.transport,
      clock: context.clock,
      url,
      refreshUrl: context.archiveUrl,
      maxBytes,
      stallTimeoutMs: options.stallTimeoutMs ?? 60_000,
      onProgress: progressReporter(context, tinkerPath, options.onProgress),
      signal,
    });
    await mkdir(join(staging.path, 'files'), { mode: 0o755 });
    const { fileCount, totalBytes } = await extractArchive(archivePath, join(staging.path, 'files'), { maxBytes, maxEntries, signal });
    if (signal?.aborted) throw new AbortedError({ message: 'The checkpoint download was aborted.', cause: signal.reason });
    await staging.publish('files', target, overwrite);
    return { directory: target, fileCount, totalBytes, archiveBytes: receivedBytes };
  } finally {
    await staging[Symbol.asyncDispose]();
  }
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
  const startedAtMs = context.clock.now();
  let publishedBytes = 0;
  return (progress) => {
    notifyUser(onProgress, progress);
    const isDue = progress.receivedBytes - publishedBytes >= EVENT_STEP_BYTES || progress.receivedBytes === progress.totalBytes;
    if (!isDue || !hasSubscribers('tinkex:checkpoint:download')) return;
    publishedBytes = progress.receivedBytes;
    publish('tinkex:checkpoint:download', { ...context.source(), path, ...progress, durationMs: context.clock.now() - startedAtMs });
  };
}
