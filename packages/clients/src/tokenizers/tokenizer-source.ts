import { ConfigurationError, type JsonObject } from '@tinkex/types';
import { parseJson } from '@tinkex/types/wire';
import type { CachedFiles } from './file-cache.js';

/** The names of the files. */
export const TOKENIZER_FILE = 'tokenizer.json';
export const CONFIG_FILE = 'tokenizer_config.json';

/** The two files that describe a tokenizer. */
export interface TokenizerFiles {
  /** Content of `tokenizer.json`. */
  readonly tokenizer: JsonObject;
  /** Content of `tokenizer_config.json`; empty when there is none. */
  readonly config: JsonObject;
}

/**
 * Reads the content of the files.
 *
 * @throws `ConfigurationError` when one of them is not JSON. `source` names where they come from.
 */
export function parseTokenizerFiles(id: string, files: CachedFiles, source: string): TokenizerFiles {
  const parse = (name: string): JsonObject => {
    try {
      return parseJson(files.get(name) ?? '{}') as JsonObject;
    } catch (error) {
      throw tokenizerUnavailable(id, `${source} sent no JSON as ${name}`, error);
    }
  };
  return { tokenizer: parse(TOKENIZER_FILE), config: parse(CONFIG_FILE) };
}

/** Which tokenizer to load. */
export interface TokenizerReference {
  /** Such as `Qwen/Qwen3-8B`. */
  readonly id: string;
  /** A branch, tag or commit on the hub. Default `main`. */
  readonly revision?: string | undefined;
}

/**
 * Splits and checks an ID: it comes from a server and becomes part of file paths and URLs, so each part must be an ordinary name.
 */
export function tokenizerIdParts(id: string): string[] {
  const parts = id.split('/');
  const isOrdinary = parts.length <= 3 && parts.every((part) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(part));
  if (isOrdinary) return parts;
  throw new ConfigurationError({
    message: `${JSON.stringify(id.slice(0, 100))} is not a tokenizer id. Pass tokenizer: { load } to supply the tokenizer yourself.`,
    option: 'tokenizer',
  });
}

/** Explains how to get a tokenizer when it could not be loaded. */
export function tokenizerUnavailable(id: string, why: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError({
    message:
      `The tokenizer ${id} could not be loaded: ${why}. Supply it yourself: put tokenizer.json (and tokenizer_config.json) into a directory and pass ` +
      'tokenizer: { directory }, or pass tokenizer: { load: (id) => yourTokenizer }.',
    option: 'tokenizer',
    cause,
  });
}
