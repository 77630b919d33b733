import type { Transport } from '@tinkex/http';
import { emitWarning } from '@tinkex/http/runtime';
import { ByteTokenizer, isByteTokenizerId, type Tokenizer, tokenizerIdFor } from '@tinkex/types';
import { isAbsolutePath } from '../node-files.js';
import { CallScope } from '../runtime/call-scope.js';
import type { Runtime } from '../runtime/runtime.js';
import { waitFor } from '../runtime/wait-for.js';
import { findTokenizerDirectory, readModelDirectory, readTokenizerDirectory } from './directory-source.js';
import { FileCache } from './file-cache.js';
import { DEFAULT_HUB_URL, fetchTokenizerFiles } from './hub-source.js';
import { buildHuggingFaceTokenizer } from './huggingface-tokenizer.js';
import { parseTokenizerFiles, type TokenizerFiles, type TokenizerReference, tokenizerUnavailable } from './tokenizer-source.js';

/** Where a client gets tokenizers from: the first of `load`, `directory` and the hub that is set. */
export interface TokenizerOptions {
  /** Supplies the tokenizer. Return undefined to continue with the other sources. */
  readonly load?: ((id: string, revision?: string) => Tokenizer | undefined | Promise<Tokenizer | undefined>) | undefined;
  /** A directory with `tokenizer.json` (and `tokenizer_config.json`), or with one directory per tokenizer ID. Uses no network. */
  readonly directory?: string | undefined;
  /** A hub that serves `<hubUrl>/<id>/resolve/<revision>/tokenizer.json`. Default `https://huggingface.co`; `false` uses no hub. */
  readonly hubUrl?: string | false | undefined;
  /** A token for gated models of the hub. Default: `HF_TOKEN` of the environment, for the default hub only. */
  readonly hubToken?: string | undefined;
  /**
   * Where files of the hub are kept, with their checksums: after the first load the hub is not needed. `false` keeps none. Default: `tinkex/tokenizers`
   * in the user's folder for caches.
   */
  readonly cacheDirectory?: string | false | undefined;
}

/** What a library uses of its client. */
export interface TokenizerLibraryParts extends Pick<Runtime, 'clock' | 'lifetime'> {
  readonly transport: Transport;
}

/** Loads tokenizers, once per ID, for all callers of one client. Closing the client ends the fetches. */
export class TokenizerLibrary {
  readonly #options: TokenizerOptions;
  readonly #parts: TokenizerLibraryParts;
  readonly #cache = new Map<string, Promise<Tokenizer>>();

  constructor(options: TokenizerOptions, parts: TokenizerLibraryParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /**
   * The tokenizer of a model, by the protocol's rules for its ID. The load is shared: `signal` ends only this wait.
   *
   * @throws ConfigurationError, with instructions for supplying the files, when none of the sources has it.
   */
  load(modelName: string, tokenizerId?: string, signal?: AbortSignal): Promise<Tokenizer> {
    const target = { what: `the tokenizer of ${modelName}`, consequence: 'The load continues for other callers.' };
    return waitFor(this.#loadOnce(modelName, tokenizerId), this.#parts.clock, { signal }, target);
  }

  #loadOnce(modelName: string, tokenizerId: string | undefined): Promise<Tokenizer> {
    const reference = tokenizerReference(modelName, tokenizerId);
    const key = `${reference.id}@${reference.revision ?? ''}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const loading = this.#load(reference);
    this.#cache.set(key, loading);
    // A failure is not remembered: the network or the directory may be available the next time.
    loading.catch(() => this.#cache.delete(key));
    return loading;
  }

  async #load(reference: TokenizerReference): Promise<Tokenizer> {
    const { load, directory, hubUrl = DEFAULT_HUB_URL } = this.#options;
    const { id, revision } = reference;
    const supplied = await load?.(id, revision);
    if (supplied) return noteOther(supplied, id, 'what tokenizer.load returned');
    if (isByteTokenizerId(id)) return this.#loadInsteadOfBytes(reference);
    if (directory !== undefined) return buildHuggingFaceTokenizer(id, await readTokenizerDirectory(directory, reference));
    if (isAbsolutePath(reference.id)) return buildHuggingFaceTokenizer(reference.id, await readModelDirectory(reference));
    if (hubUrl === false) throw tokenizerUnavailable(reference.id, 'no directory is set and the hub is turned off');
    return buildHuggingFaceTokenizer(reference.id, await this.#fetch(reference, hubUrl));
  }

  /** The server names the byte tokenizer of the embedded engine, which is built in. Files that you supply are used all the same. */
  async #loadInsteadOfBytes(reference: TokenizerReference): Promise<Tokenizer> {
    const { directory } = this.#options;
    const files = directory === undefined ? undefined : await findTokenizerDirectory(directory, reference);
    if (files === undefined) return new ByteTokenizer();
    return noteOther(await buildHuggingFaceTokenizer(reference.id, files), reference.id, `tokenizer.json in ${directory}`);
  }

  async #fetch(reference: TokenizerReference, hubUrl: string): Promise<TokenizerFiles> {
    const { transport, clock, lifetime } = this.#parts;
    const { hubToken, cacheDirectory = false } = this.#options;
    const cache = cacheDirectory === false ? undefined : FileCache.in(cacheDirectory);
    const key = `${hubUrl} ${reference.id} ${reference.revision ?? 'main'}`;
    const cached = await cache?.read(key);
    if (cached !== undefined) return parseTokenizerFiles(reference.id, cached, 'the cache');
    const scope = new CallScope({ clock, lifetime });
    const files = await scope.run((signal) => fetchTokenizerFiles(reference, { hubUrl, hubToken, transport, clock, signal }));
    await cache?.write(key, files).catch((error: unknown) => {
      warn(`The tokenizer ${reference.id} could not be kept in ${cacheDirectory} (${String(error)}). It is fetched again next time.`);
    });
    return parseTokenizerFiles(reference.id, files, hubUrl);
  }
}

/** Files of a model in place of the byte tokenizer are deliberate or a mistake: say it. */
function noteOther(tokenizer: Tokenizer, id: string, source: string): Tokenizer {
  if (isByteTokenizerId(id) && !(tokenizer instanceof ByteTokenizer))
    warn(`The server names the tokenizer ${id}; ${source} is used instead.`);
  return tokenizer;
}

function warn(message: string): void {
  emitWarning(message, { type: 'TinkexTokenizerWarning', code: 'TINKEX_TOKENIZER' });
}

function tokenizerReference(modelName: string, tokenizerId: string | undefined): TokenizerReference {
  const named = tokenizerId || modelName;
  // Some servers name a model by the path of its folder.
  if (isAbsolutePath(named)) return { id: named };
  const { tokenizerId: id, revision } = tokenizerIdFor(modelName, tokenizerId);
  return { id, revision };
}
