import type { Transport } from '@tinkex/http';
import { type JsonObject, parseJson, TinkexError } from '@tinkex/types';
import { type TokenizerFiles, type TokenizerReference, tokenizerIdParts, tokenizerUnavailable } from './tokenizer-source.js';

/** Where tokenizers come from unless an option says otherwise. */
export const DEFAULT_HUB_URL = 'https://huggingface.co';

const MAX_FILE_BYTES = 128 * 1024 * 1024;
const MAX_REDIRECTS = 5;

/** Where and how to fetch. */
export interface HubSourceOptions {
  readonly hubUrl: string;
  readonly transport: Transport;
  readonly signal?: AbortSignal;
}

/** Fetches a tokenizer's files from a hub that serves `<hub>/<id>/resolve/<revision>/<file>`, without any credential. */
export async function fetchTokenizerFiles(reference: TokenizerReference, options: HubSourceOptions): Promise<TokenizerFiles> {
  const tokenizer = await fetchJson(reference, 'tokenizer.json', options);
  if (!tokenizer) throw tokenizerUnavailable(reference.id, `${options.hubUrl} has no tokenizer.json for it`);
  return { tokenizer, config: (await fetchJson(reference, 'tokenizer_config.json', options)) ?? {} };
}

async function fetchJson(reference: TokenizerReference, file: string, options: HubSourceOptions): Promise<JsonObject | undefined> {
  const path = [...tokenizerIdParts(reference.id), 'resolve', encodeURIComponent(reference.revision ?? 'main'), file].join('/');
  let url = new URL(path, options.hubUrl.endsWith('/') ? options.hubUrl : `${options.hubUrl}/`);
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await options.transport.send({
        method: 'GET',
        url: url.href,
        headers: { accept: 'application/json', 'accept-encoding': 'identity' },
        pool: 'download',
        ...(options.signal ? { signal: options.signal } : {}),
      });
      const location = response.headers['location'];
      if (response.status === 200) return parseJson(await response.body.bytes(MAX_FILE_BYTES)) as JsonObject;
      response.body.cancel();
      if (response.status === 404) return undefined;
      const isRedirect = response.status >= 300 && response.status < 400 && location !== undefined;
      if (!isRedirect) throw tokenizerUnavailable(reference.id, `${options.hubUrl} answered with status ${response.status}`);
      url = new URL(location, url);
    }
  } catch (error) {
    // Errors that already say what to do, and the caller's own abort, are passed on as they are.
    if (TinkexError.isInstance(error) && (error.code === 'TINKEX_CONFIGURATION' || error.name === 'AbortError')) throw error;
    throw tokenizerUnavailable(reference.id, `${options.hubUrl} could not be reached or sent no JSON`, error);
  }
  throw tokenizerUnavailable(reference.id, `${options.hubUrl} redirected more than ${MAX_REDIRECTS} times`);
}
