import type { Clock, Transport } from '@tinkex/http';
import { AbortedError, TinkexError } from '@tinkex/types';
import { fileSystem, paths } from '../node-files.js';
import { type CheckpointContent, SignedUrls } from './checkpoint-content.js';
import { isFaultOfDisk } from './disk-error.js';
import type { DownloadJournal } from './download-journal.js';
import { checkpointRefused, entryPathSegments } from './entry-path.js';
import { removeStrays } from './remove-strays.js';
import { type DownloadProgress, downloadToFile } from './resumable-download.js';

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;

/** Options of {@link fetchFiles}. */
export interface FetchFilesOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** What an interrupted download has left in the directory. */
  readonly journal: DownloadJournal;
  /** Bytes of all files together. */
  readonly maxBytes: number;
  readonly maxEntries: number;
  readonly stallTimeoutMs: number;
  readonly onProgress: (progress: DownloadProgress) => void;
  readonly signal?: AbortSignal | undefined;
}

/** What was fetched. */
export interface FetchedFiles {
  readonly fileCount: number;
  readonly totalBytes: number;
  /** How much of it an interrupted download had fetched already. */
  readonly resumedBytes: number;
}

/**
 * Downloads each file of a checkpoint, in the order of names, into an existing directory that is empty or holds what an interrupted
 * download has left. The names come from the server: all of them are checked before the first byte is requested, and none can lead
 * outside the directory.
 */
export async function fetchFiles(content: CheckpointContent, directory: string, options: FetchFilesOptions): Promise<FetchedFiles> {
  const { transport, clock, journal, maxBytes, stallTimeoutMs, onProgress, signal } = options;
  const urls = new SignedUrls(content, clock);
  const files = checkedFiles(Object.keys(content.signed.urls), options.maxEntries);
  const begun = files.filter(({ name }) => journal.version(name) !== undefined).map(({ segments }) => segments);
  await removeStrays(directory, begun);
  let totalBytes = 0;
  let resumedBytes = 0;
  for (const { name, segments } of files) {
    if (signal?.aborted) throw new AbortedError({ message: 'The checkpoint download was aborted.', cause: signal.reason });
    const path = paths().join(directory, ...segments);
    const before = totalBytes;
    try {
      await fileSystem().mkdir(paths().dirname(path), { recursive: true, mode: DIRECTORY_MODE });
      const fetched = await downloadToFile(path, {
        transport,
        clock,
        url: () => urls.current(name),
        refreshUrl: () => urls.renewed(name),
        maxBytes: maxBytes - before,
        stallTimeoutMs,
        mode: FILE_MODE,
        begun: journal.version(name),
        onBegin: (version) => journal.begin(name, version),
        onProgress: (progress) => onProgress(overall(content, name, before, progress)),
        signal,
      });
      totalBytes += fetched.receivedBytes;
      resumedBytes += fetched.resumedBytes;
    } catch (error) {
      const isOther = TinkexError.isInstance(error) || !(error instanceof Error) || isFaultOfDisk(error);
      throw isOther ? error : checkpointRefused(`the file ${JSON.stringify(name)} cannot be stored beside the others`, error);
    }
  }
  return { fileCount: files.length, totalBytes, resumedBytes };
}

/** The progress of all files together. An archive is one file whose length the server announces. */
function overall(
  { isArchive, sizeBytes }: CheckpointContent,
  fileName: string,
  before: number,
  progress: DownloadProgress,
): DownloadProgress {
  if (isArchive) return progress;
  const receivedBytes = before + progress.receivedBytes;
  return { receivedBytes, totalBytes: sizeBytes !== undefined && sizeBytes >= receivedBytes ? sizeBytes : undefined, fileName };
}

interface CheckedFile {
  readonly name: string;
  readonly segments: readonly string[];
}

function checkedFiles(names: readonly string[], maxEntries: number): CheckedFile[] {
  if (names.length === 0) throw checkpointRefused('it has no files');
  if (names.length > maxEntries) throw checkpointRefused(`it has more than ${maxEntries} files`);
  const files = names.toSorted().map((name) => ({ name, segments: entryPathSegments(name) }));
  const paths = new Set<string>();
  for (const { name, segments } of files) {
    const path = segments.join('/');
    if (path === '' || name.endsWith('/')) throw checkpointRefused(`the file name ${JSON.stringify(name)} names a directory`);
    if (paths.has(path)) throw checkpointRefused(`the file name ${JSON.stringify(name)} leads to the same file as another`);
    paths.add(path);
  }
  return files;
}
