import type { Clock, Transport, TransportBody } from '@tinkex/http';
import { concatBytes } from '@tinkex/http/runtime';
import { TinkexError } from '@tinkex/types';
import { fetchRange } from '../downloads/fetch-range.js';
import { StallGuard } from '../downloads/stall-guard.js';
import type { CachedFiles } from './file-cache.js';
import {
  CONFIG_FILE,
  parseTokenizerFiles,
  TOKENIZER_FILE,
  type TokenizerReference,
  tokenizerIdParts,
  tokenizerUnavailable,
} from './tokenizer-source.js';

/** Where tokenizers come from unless an option says otherwise. */
export const DEFAULT_HUB_URL = 'https://huggingface.co';

const MAX_FILE_BYTES = 128 * 1024 * 1024;
/** Longest time without a byte. */
const STALL_TIMEOUT_MS = 60_000;

/** Where and how to fetch. */
export interface HubSourceOptions {
  readonly hubUrl: string;
  /** Sent to the hub, not to where it redirects. */
  readonly hubToken?: string | undefined;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Fetches a tokenizer's files from a hub that serves `<hub>/<id>/resolve/<revision>/<file>`. What it returns is known to be JSON. */
export async function fetchTokenizerFiles(reference: TokenizerReference, options: HubSourceOptions): Promise<CachedFiles> {
  const tokenizer = await fetchFile(reference, TOKENIZER_FILE, options);
  if (!tokenizer) throw tokenizerUnavailable(reference.id, `${options.hubUrl} has no tokenizer.json for it`);
  const config = await fetchFile(reference, CONFIG_FILE, options);
  const files = new Map([[TOKENIZER_FILE, tokenizer]]);
  if (config !== undefined) files.set(CONFIG_FILE, config);
  parseTokenizerFiles(reference.id, files, options.hubUrl);
  return files;
}

async function fetchFile(reference: TokenizerReference, file: string, options: HubSourceOptions): Promise<Uint8Array | undefined> {
  const { hubUrl, hubToken, transport, clock } = options;
  const path = [...tokenizerIdParts(reference.id), 'resolve', encodeURIComponent(reference.revision ?? 'main'), file].join('/');
  const url = new URL(path, hubUrl.endsWith('/') ? hubUrl : `${hubUrl}/`).href;
  const guard = new StallGuard(clock, STALL_TIMEOUT_MS, options.signal);
  try {
    const authorization = hubToken === undefined ? undefined : `Bearer ${hubToken}`;
    const { status, body } = await fetchRange(transport, { url, offset: 0, authorization, signal: guard.signal });
    if (status === 200) return await readAll(body, guard);
    body.cancel();
    if (status === 404) return undefined;
    const isRefused = status === 401 || status === 403;
    const advice = isRefused ? ': the model is gated or private. Accept its terms there, and set HF_TOKEN or tokenizer.hubToken' : '';
    throw tokenizerUnavailable(reference.id, `${hubUrl} answered with status ${status}${advice}`);
  } catch (error) {
    if (guard.isStalled) throw tokenizerUnavailable(reference.id, `${hubUrl} sent nothing for ${STALL_TIMEOUT_MS / 1000} s`, error);
    // Errors that already say what to do, and the end of the client, are passed on as they are.
    if (TinkexError.isInstance(error) && (error.code === 'TINKEX_CONFIGURATION' || error.name === 'AbortError')) throw error;
    const why = error instanceof Error ? ` (${error.message})` : '';
    throw tokenizerUnavailable(reference.id, `${hubUrl} could not be reached${why}`, error);
  } finally {
    guard.close();
  }
}

async function readAll(body: TransportBody, guard: StallGuard): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  let size = 0;
  for await (const block of body) {
    guard.noteMove();
    size += block.byteLength;
    if (size > MAX_FILE_BYTES) throw new RangeError(`the file is larger than ${MAX_FILE_BYTES} bytes`);
    blocks.push(block);
  }
  return concatBytes(blocks, size);
}
