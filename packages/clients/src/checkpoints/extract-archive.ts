import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { nodeModule } from '@tinkex/http/runtime';
import { AbortedError, TinkexError } from '@tinkex/types';
import { createTarDecoder } from 'modern-tar';
import { fileSystem, paths } from '../node-files.js';
import { isFaultOfDisk } from './disk-error.js';
import { checkpointRefused, entryPathSegments } from './entry-path.js';
import { refuseUnknownTypes } from './tar-types.js';

const PURPOSE = 'Extracting an archive';
const READ_BLOCK_BYTES = 256 * 1024;
const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;

/** Bounds of an extraction. */
export interface ExtractOptions {
  /** Bytes of all files together. */
  readonly maxBytes: number;
  /** Files and directories together. */
  readonly maxEntries: number;
  readonly signal?: AbortSignal | undefined;
}

/** What an extraction wrote. */
export interface ExtractResult {
  readonly fileCount: number;
  readonly totalBytes: number;
}

/**
 * Extracts a tar file, plain or gzipped, into an existing, empty directory. Accepts regular files and directories only. Refuses links,
 * devices, pipes and sparse files, names that leave the directory, truncated or damaged archives, and everything over the limits. Ignores the modes,
 * owners and times in the archive. Memory use does not depend on the archive's size.
 *
 * @throws ValidationError when the archive is refused, the system's error when the disk cannot hold it; the caller then removes the
 * directory.
 */
export async function extractArchive(archivePath: string, directory: string, options: ExtractOptions): Promise<ExtractResult> {
  const { Readable } = nodeModule('node:stream', PURPOSE);
  const source = Readable.toWeb(Readable.from(refuseUnknownTypes(tarBytes(archivePath, options)))) as ReadableStream<Uint8Array>;
  let entryCount = 0;
  let fileCount = 0;
  let totalBytes = 0;
  try {
    for await (const { header, body } of source.pipeThrough(createTarDecoder({ strict: true }))) {
      entryCount += 1;
      if (entryCount > options.maxEntries) throw checkpointRefused(`it has more than ${options.maxEntries} entries`);
      // Some servers pack the folder itself, under the name "/".
      if (header.type === 'directory' && /^\/+$/.test(header.name)) {
        await body.cancel();
        continue;
      }
      const segments = entryPathSegments(header.name);
      if (header.type === 'directory') {
        await fileSystem().mkdir(paths().join(directory, ...segments), { recursive: true, mode: DIRECTORY_MODE });
        await body.cancel();
        continue;
      }
      if (header.type !== 'file') throw checkpointRefused(`the entry ${JSON.stringify(header.name)} is a ${header.type}`);
      const name = segments.pop();
      if (name === undefined) throw checkpointRefused('a file has no name');
      totalBytes += header.size;
      if (!(totalBytes <= options.maxBytes)) throw checkpointRefused(`its files are larger than ${options.maxBytes} bytes`);
      await fileSystem().mkdir(paths().join(directory, ...segments), { recursive: true, mode: DIRECTORY_MODE });
      await writeEntry(paths().join(directory, ...segments, name), body);
      fileCount += 1;
    }
  } catch (error) {
    throw TinkexError.isInstance(error) || isFaultOfDisk(error) ? error : checkpointRefused('it is damaged or not a tar file', error);
  }
  return { fileCount, totalBytes };
}

async function writeEntry(path: string, body: ReadableStream<Uint8Array>): Promise<void> {
  // "wx": an archive that names a file twice, or a file where a directory is, does not overwrite what it wrote before.
  const file = await fileSystem().open(path, 'wx', FILE_MODE);
  try {
    for await (const chunk of body) await writeFully(file, chunk);
  } finally {
    await file.close();
  }
}

async function writeFully(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, written);
    written += bytesWritten;
  }
}

/** The bytes of the tar, unpacked from gzip when the file starts like one. Bounded, so that a bomb of padding ends too. */
async function* tarBytes(archivePath: string, options: ExtractOptions): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await fileSystem().open(archivePath, 'r');
  try {
    const raw = file.createReadStream({ highWaterMark: READ_BLOCK_BYTES, start: 0, autoClose: false });
    const blocks = (await isGzip(file)) ? gunzipped(raw) : raw;
    // Each entry costs a header and padding, at most a few blocks; extended headers are bounded by the decoder.
    const maxTarBytes = options.maxBytes + options.maxEntries * 4096 + 1024 * 1024;
    let total = 0;
    for await (const block of blocks as AsyncIterable<Uint8Array>) {
      if (options.signal?.aborted) throw new AbortedError({ message: 'The extraction was aborted.', cause: options.signal.reason });
      total += block.byteLength;
      if (total > maxTarBytes) throw checkpointRefused(`it unpacks to more than ${options.maxBytes} bytes`);
      yield block;
    }
  } finally {
    await file.close();
  }
}

function gunzipped(source: Readable): Readable {
  const { pipeline } = nodeModule('node:stream', PURPOSE);
  const gunzip = nodeModule('node:zlib', PURPOSE).createGunzip({ chunkSize: READ_BLOCK_BYTES });
  // A failure destroys the last stream with the error, and its reader receives it; there is nothing left to do here.
  pipeline(source, gunzip, () => undefined);
  return gunzip;
}

async function isGzip(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
}
