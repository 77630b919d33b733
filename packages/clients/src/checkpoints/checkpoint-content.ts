import type { Clock } from '@tinkex/http';
import type { ExternalWeightsUrlsResponse } from '@tinkex/types';
import { checkpointRefused } from './entry-path.js';

/** URLs are signed again when less than this is left. */
const RENEWAL_MS = 5 * 60_000;

/** What a checkpoint can be downloaded as: its files, or one archive of them. */
export interface CheckpointContent {
  /** Whether the only file is a tar archive of the checkpoint's files. */
  readonly isArchive: boolean;
  /** Size of all files together, if the server names it. */
  readonly sizeBytes?: number | undefined;
  /** One signed URL for each file. */
  readonly signed: ExternalWeightsUrlsResponse;
  /** Signs the URLs again. */
  readonly sign: () => Promise<ExternalWeightsUrlsResponse>;
  /** Removes what the download has created on the server. Never fails. */
  readonly close: () => Promise<void>;
}

/** The signed URLs of a download in progress. All files share one expiry, so one request renews them all. */
export class SignedUrls {
  readonly #content: CheckpointContent;
  readonly #clock: Clock;
  #signed: ExternalWeightsUrlsResponse;

  constructor(content: CheckpointContent, clock: Clock) {
    this.#content = content;
    this.#clock = clock;
    this.#signed = content.signed;
  }

  /** The URL of a file, signed again if it is about to expire. */
  async current(name: string): Promise<string> {
    return this.#signed.expires.getTime() - this.#clock.wallMs() < RENEWAL_MS ? this.renewed(name) : this.#find(name);
  }

  /** The URL of a file, signed again. */
  async renewed(name: string): Promise<string> {
    this.#signed = await this.#content.sign();
    return this.#find(name);
  }

  #find(name: string): string {
    const { urls } = this.#signed;
    const url = Object.hasOwn(urls, name) ? urls[name] : undefined;
    if (url === undefined) throw checkpointRefused(`the file ${JSON.stringify(name.slice(0, 200))} is no longer part of it`);
    return url;
  }
}
