import type { FileHandle } from 'node:fs/promises';
import { backoff, type Clock, type RetryStrategy, retry, type Transport, type TransportResponse } from '@tinkex/http';
import { ConnectionError, TimeoutError } from '@tinkex/types';
import { apiStatusError, isRetryableStatus } from '@tinkex/types/wire';
import { fetchRange, parseContentRange, rangeValidator } from '../downloads/fetch-range.js';
import { StallGuard } from '../downloads/stall-guard.js';
import { fileSystem } from '../node-files.js';
import type { FileVersion } from './download-journal.js';
import { checkpointRefused } from './entry-path.js';

/** New URLs requested in a row without a single new byte. */
const MAX_FRUITLESS_REFRESHES = 2;
/** Consecutive failures without a single new byte before the download fails. */
const MAX_FRUITLESS_ATTEMPTS = 5;
const MAX_ATTEMPTS = 100;
const MAX_ERROR_BODY_BYTES = 4096;

/** How far a download is. */
export interface DownloadProgress {
  readonly receivedBytes: number;
  /** Not set while the server has not named a length. */
  readonly totalBytes?: number | undefined;
  /** The file that is being received, when a checkpoint is fetched file by file. */
  readonly fileName?: string | undefined;
}

/** Options of {@link downloadToFile}. */
export interface DownloadToFileOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** A function is called before each attempt: it may have the URL signed again before it expires. */
  readonly url: string | (() => Promise<string>);
  /** Requests a new URL when the server no longer accepts the signed one. */
  readonly refreshUrl?: (() => Promise<string>) | undefined;
  readonly maxBytes: number;
  /** Longest time without a byte before the download reconnects and resumes. */
  readonly stallTimeoutMs: number;
  /** The permissions of the file. Default 0o600. */
  readonly mode?: number | undefined;
  /** The version that an earlier process has begun to fetch. Without one, the file must not exist. */
  readonly begun?: FileVersion | undefined;
  /** Notes which version is fetched, before its first byte is written. Not called for a file without an entity tag or a date. */
  readonly onBegin?: ((version: FileVersion) => Promise<void>) | undefined;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What {@link downloadToFile} fetched. */
export interface FetchedFile extends DownloadProgress {
  /** The bytes of an earlier process that were still good. */
  readonly resumedBytes: number;
}

/**
 * Streams a URL into a file, block by block. A broken connection, or a download that an earlier process has begun, is continued where it
 * stopped when the server supports ranges and the file is still the same one; otherwise it starts again. The length is checked against
 * what the server announced.
 */
export async function downloadToFile(path: string, options: DownloadToFileOptions): Promise<FetchedFile> {
  const { O_CREAT, O_RDWR } = fileSystem().constants;
  const file = await fileSystem().open(path, options.begun === undefined ? 'wx' : O_CREAT | O_RDWR, options.mode ?? 0o600);
  try {
    const transfer = new Transfer(file, options, options.begun === undefined ? 0 : (await file.stat()).size);
    const { clock, signal } = options;
    await retry(() => transfer.attempt(), { strategies: [downloadStrategy(transfer)], clock, signal });
    return { ...transfer.progress, resumedBytes: transfer.resumedBytes };
  } finally {
    await file.close();
  }
}

/** The strategy of a download: reconnects after connection faults, sooner after attempts that brought new bytes. */
function downloadStrategy(transfer: Transfer): RetryStrategy {
  const delayMs = backoff({ baseMs: 500, maxMs: 10_000 });
  let fruitless = 0;
  return ({ error, failures }) => {
    fruitless = transfer.hasMoved ? 0 : fruitless + 1;
    const isHopeless = fruitless >= MAX_FRUITLESS_ATTEMPTS || failures >= MAX_ATTEMPTS - 1;
    return isHopeless || !ConnectionError.isInstance(error) || !error.isRetryable ? undefined : delayMs(fruitless);
  };
}

class Transfer {
  offset: number;
  /** The bytes that were there at the start, until they turn out to be of another version. */
  resumedBytes: number;
  #startOffset = 0;
  readonly #file: FileHandle;
  readonly #options: DownloadToFileOptions;
  #url = '';
  #refreshes = 0;
  #total: number | undefined;
  #validator: string | undefined;

  constructor(file: FileHandle, options: DownloadToFileOptions, presentBytes: number) {
    this.#file = file;
    this.#options = options;
    this.#validator = options.begun?.validator;
    this.#total = options.begun?.totalBytes;
    // A complete file too is compared with the server's, by its last byte. One that is too long is not of this version.
    this.offset = presentBytes === this.#total ? Math.max(0, presentBytes - 1) : presentBytes;
    if (this.#total !== undefined && presentBytes > this.#total) this.#validator = undefined;
    this.resumedBytes = presentBytes;
    if (typeof options.url === 'string') this.#url = options.url;
  }

  get progress(): DownloadProgress {
    return { receivedBytes: this.offset, totalBytes: this.#total };
  }

  /** Whether the last attempt has ended beyond where it started. */
  get hasMoved(): boolean {
    return this.offset > this.#startOffset;
  }

  /** One connection. Throws a `ConnectionError` when another attempt from the current offset may succeed. */
  async attempt(): Promise<void> {
    this.#startOffset = this.offset;
    if (typeof this.#options.url === 'function') this.#url = await this.#options.url();
    const guard = new StallGuard(this.#options.clock, this.#options.stallTimeoutMs, this.#options.signal);
    let response: TransportResponse | undefined;
    try {
      // Without a tag or a date it is unknown whether the rest belongs to the same file.
      if (this.#validator === undefined) await this.#rewind();
      const range = { url: this.#url, offset: this.offset, signal: guard.signal, validator: this.#validator };
      response = await fetchRange(this.#options.transport, range);
      if (await this.#accept(response)) await this.#read(response, guard);
    } catch (error) {
      response?.body.cancel();
      if (!guard.isStalled) throw error;
      const message = `The checkpoint download did not move for ${this.#options.stallTimeoutMs} ms.`;
      throw new TimeoutError({ message, phase: 'body', cause: error });
    } finally {
      guard.close();
    }
    if (this.#total !== undefined && this.offset !== this.#total) {
      throw new ConnectionError({ message: `The checkpoint download ended after ${this.offset} of ${this.#total} bytes.` });
    }
  }

  /** Whether the body must be read; false when everything has arrived already. */
  async #accept(response: TransportResponse): Promise<boolean> {
    const { status, headers } = response;
    if (status === 206) {
      const range = parseContentRange(headers['content-range']);
      if (range?.start === this.offset && this.#isSameFile(headers, range.total)) {
        this.#total ??= range.total;
        this.#checkTotal();
        return true;
      }
      return this.#startAgain(response, 'The server answered with another range than the requested one.');
    }
    if (status === 416) {
      if (this.#total !== undefined && this.offset === this.#total) {
        response.body.cancel();
        return false;
      }
      return this.#startAgain(response, 'The server no longer has the requested range.');
    }
    if (status >= 200 && status < 300) {
      await this.#rewind();
      const length = headers['content-length'];
      this.#total = length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined;
      this.#validator = rangeValidator(headers);
      this.#checkTotal();
      if (this.#validator !== undefined) await this.#options.onBegin?.({ validator: this.#validator, totalBytes: this.#total });
      return true;
    }
    return this.#refuse(response);
  }

  /** A server that does not support `If-Range` sends the range of the file it has now. */
  #isSameFile(headers: TransportResponse['headers'], total: number | undefined): boolean {
    const validator = rangeValidator(headers);
    if (validator !== undefined && this.#validator !== undefined && validator !== this.#validator) return false;
    return this.#total === undefined || total === undefined || total === this.#total;
  }

  async #read(response: TransportResponse, guard: StallGuard): Promise<void> {
    for await (const chunk of response.body) {
      guard.noteMove();
      this.#refreshes = 0;
      if (this.offset + chunk.byteLength > this.#options.maxBytes) throw this.#tooLarge();
      for (let written = 0; written < chunk.byteLength; ) {
        const { bytesWritten } = await this.#file.write(chunk, written, chunk.byteLength - written, this.offset);
        written += bytesWritten;
        this.offset += bytesWritten;
      }
      this.#options.onProgress?.(this.progress);
    }
  }

  async #refuse(response: TransportResponse): Promise<never> {
    const { status, headers } = response;
    const body = await response.body.bytes(MAX_ERROR_BODY_BYTES).catch(() => new Uint8Array());
    const refreshUrl = this.#options.refreshUrl;
    const isExpired = status === 400 || status === 401 || status === 403 || status === 404 || status === 410;
    if (refreshUrl && isExpired && this.#refreshes < MAX_FRUITLESS_REFRESHES) {
      this.#refreshes += 1;
      this.#url = await refreshUrl();
      throw new ConnectionError({ message: `The signed download address was refused with status ${status}.` });
    }
    const reason = storageReason(new TextDecoder().decode(body));
    const error = apiStatusError({ status, headers, body: reason, method: 'GET', path: '(checkpoint download)' });
    if (status === 409 || !isRetryableStatus(status)) throw error;
    throw new ConnectionError({ message: `The checkpoint download failed with status ${status}.`, cause: error });
  }

  async #startAgain(response: TransportResponse, message: string): Promise<never> {
    response.body.cancel();
    await this.#rewind();
    throw new ConnectionError({ message });
  }

  async #rewind(): Promise<void> {
    await this.#file.truncate(0);
    this.offset = 0;
    this.resumedBytes = 0;
    this.#total = undefined;
    this.#validator = undefined;
  }

  #checkTotal(): void {
    if (this.#total !== undefined && this.#total > this.#options.maxBytes) throw this.#tooLarge();
  }

  #tooLarge(): Error {
    return checkpointRefused(`it is larger than ${this.#options.maxBytes} bytes`);
  }
}

/** The reason of a refusal. Object stores answer in XML that may repeat the signature: only its code and message are kept. */
function storageReason(body: string): string {
  if (!body.trimStart().startsWith('<')) return body;
  return ['Code', 'Message'].flatMap((tag) => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(body)?.[1] ?? []).join(': ');
}
