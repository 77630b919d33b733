import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Clock, hasSubscribers, publish, type Transport } from '@tinkex/http';
import { AbortedError, type EventSource, parseTinkerPath } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import { tellUser } from '../runtime/notify-user.js';
import { extractArchive } from './extract-archive.js';
import { type DownloadProgress, downloadToFile } from './resumable-download.js';
import { refuseExisting, StagingDirectory } from './staging-directory.js';

const GIBIBYTE = 1024 ** 3;
const EVENT_STEP_BYTES = 4 * 1024 * 1024;

/** Options of a checkpoint download. */
export interface DownloadCheckpointOptions extends CallOptions {
  /** Where the files go. Default: the checkpoint's path with `/` as `_` and `:` as `-`, in the current directory. Must not exist. */
  readonly directory?: string;
  /** Replace an existing directory, once the new one is complete. Default false. */
  readonly overwrite?: boolean;
  /** Called for each block received. What it throws is printed as a warning and changes nothing. */
  readonly onProgress?: (progress: DownloadProgress) => void;
  /** Ends the download; nothing is left on disk. */
  readonly signal?: AbortSignal;
  /** Limit for the whole download in milliseconds, waiting for the archive and extracting it included. No limit by default. */
  readonly timeoutMs?: number;
  /** Sent with the question for the archive's address; the address itself, which is another host's, gets none of them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Limit on the archive and on the files in it, bytes. Default 64 GiB. */
  readonly maxBytes?: number;
  /** Limit on files and directories in the archive. Default 10,000. */
  readonly maxEntries?: number;
  /** Longest time without a byte before the connection is given up and resumed, milliseconds. Default 60,000. */
  readonly stallTimeoutMs?: number;
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

/** What a download needs from the client it is called on. */
export interface DownloadContext {
  readonly transport: Transport;
  readonly clock: Clock;
  source(): EventSource;
  /** The signed URL of a checkpoint's archive. */
  archiveUrl(tinkerPath: string): Promise<string>;
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
  const url = await context.archiveUrl(tinkerPath);
  const staging = await StagingDirectory.beside(target);
  try {
    const archivePath = join(staging.path, 'archive.tar');
    const { receivedBytes } = await downloadToFile(archivePath, {
      transport: context.transport,
      clock: context.clock,
      url,
      refreshUrl: () => context.archiveUrl(tinkerPath),
      maxBytes,
      stallTimeoutMs: options.stallTimeoutMs ?? 60_000,
      onProgress: progressReporter(context, tinkerPath, options.onProgress),
      ...(signal ? { signal } : {}),
    });
    await mkdir(join(staging.path, 'files'), { mode: 0o755 });
    const { fileCount, totalBytes } = await extractArchive(archivePath, join(staging.path, 'files'), {
      maxBytes,
      maxEntries,
      ...(signal ? { signal } : {}),
    });
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
    tellUser(onProgress, progress);
    const isDue = progress.receivedBytes - publishedBytes >= EVENT_STEP_BYTES || progress.receivedBytes === progress.totalBytes;
    if (!isDue || !hasSubscribers('tinkex:checkpoint:download')) return;
    publishedBytes = progress.receivedBytes;
    publish('tinkex:checkpoint:download', { ...context.source(), path, ...progress, durationMs: context.clock.now() - startedAtMs });
  };
}
