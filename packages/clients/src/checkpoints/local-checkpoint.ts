import { nodeModule } from '@tinkex/http/runtime';
import { AbortedError, ConfigurationError } from '@tinkex/types';
import { fileSystem, paths } from '../node-files.js';
import type { CheckpointContent } from './checkpoint-content.js';
import { checkpointRefused, entryPathSegments } from './entry-path.js';
import type { ExtractOptions, ExtractResult } from './extract-archive.js';

const DIRECTORY_MODE = 0o755;

/** The `file:` URL of a checkpoint for which the server names only a place on its disk. */
export function localUrlOf({ isArchive, signed }: CheckpointContent): string | undefined {
  const [url] = Object.values(signed.urls);
  return isArchive && url?.startsWith('file:') ? url : undefined;
}

/** @throws `ConfigurationError` that names the place, unless the caller allows to read it. */
export function requireLocalFilesAllowed(url: string, isAllowed: boolean): void {
  if (isAllowed) return;
  throw new ConfigurationError({
    message:
      `The server offers no download of this checkpoint: it is at ${url} on the server's disk. ` +
      'If that is this machine, or a disk that both share, pass allowLocalFiles: true to copy it.',
    option: 'allowLocalFiles',
  });
}

/** What was copied: files into `directory`, or one archive beside it that must still be extracted. */
export type CopiedCheckpoint = ExtractResult | { readonly archivePath: string };

/**
 * Copies a checkpoint from this machine's disk into an existing, empty directory. Takes regular files and directories; refuses links, pipes and
 * everything over the limits. A single file counts as an archive and is not copied.
 */
export async function copyLocalCheckpoint(url: string, directory: string, options: ExtractOptions): Promise<CopiedCheckpoint> {
  const source = pathOf(url);
  const found = await fileSystem()
    .lstat(source)
    .catch((error: unknown) => {
      throw checkpointRefused(`${url} cannot be read on this machine (${(error as NodeJS.ErrnoException).code})`, error);
    });
  if (found.isFile()) return { archivePath: source };
  if (!found.isDirectory()) throw checkpointRefused(`${url} is neither a file nor a directory`);
  let entryCount = 0;
  let fileCount = 0;
  let totalBytes = 0;
  for (const name of (await fileSystem().readdir(source, { recursive: true })).sort()) {
    if (options.signal?.aborted) throw new AbortedError({ message: 'The checkpoint download was aborted.', cause: options.signal.reason });
    entryCount += 1;
    if (entryCount > options.maxEntries) throw checkpointRefused(`it has more than ${options.maxEntries} entries`);
    const from = paths().join(source, name);
    const target = paths().join(directory, ...entryPathSegments(name.replaceAll('\\', '/')));
    const entry = await fileSystem().lstat(from);
    if (entry.isDirectory()) await fileSystem().mkdir(target, { recursive: true, mode: DIRECTORY_MODE });
    else if (entry.isFile()) {
      totalBytes += entry.size;
      if (totalBytes > options.maxBytes) throw checkpointRefused(`its files are larger than ${options.maxBytes} bytes`);
      await fileSystem().copyFile(from, target);
      fileCount += 1;
    } else throw checkpointRefused(`${JSON.stringify(name)} is neither a file nor a directory`);
  }
  return { fileCount, totalBytes };
}

function pathOf(url: string): string {
  try {
    return nodeModule('node:url', 'Reading a checkpoint from a file URL').fileURLToPath(url);
  } catch (error) {
    throw checkpointRefused(`${url} is not a place on this machine`, error);
  }
}
