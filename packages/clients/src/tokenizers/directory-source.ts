import type { JsonObject } from '@tinkex/types';
import { parseJson } from '@tinkex/types/wire';
import { fileSystem, isAbsolutePath, paths } from '../node-files.js';
import { type TokenizerFiles, type TokenizerReference, tokenizerIdParts, tokenizerUnavailable } from './tokenizer-source.js';

/**
 * Reads a tokenizer's files from a directory: `<directory>/<id>/tokenizer.json`, so that one directory can hold several, else
 * `<directory>/tokenizer.json`. Of a model that the server names by a path, the last part counts as its ID.
 */
export async function readTokenizerDirectory(directory: string, reference: TokenizerReference): Promise<TokenizerFiles> {
  const found = await findTokenizerDirectory(directory, reference);
  if (found !== undefined) return found;
  const folder = partsOf(reference).join('/');
  throw tokenizerUnavailable(reference.id, `${directory} holds no tokenizer.json, neither itself nor in ${folder}/`);
}

/** The same; undefined when the directory does not hold them. */
export async function findTokenizerDirectory(directory: string, reference: TokenizerReference): Promise<TokenizerFiles | undefined> {
  const { id } = reference;
  return (await readFiles(paths().join(directory, ...partsOf(reference)), id)) ?? (await readFiles(directory, id));
}

function partsOf({ id }: TokenizerReference): string[] {
  return tokenizerIdParts(isAbsolutePath(id) ? paths().basename(id) : id);
}

/** Reads the tokenizer of a model that the server names by a path, if that path exists on this machine too. */
export async function readModelDirectory({ id }: TokenizerReference): Promise<TokenizerFiles> {
  const found = await readFiles(id, id);
  if (found !== undefined) return found;
  throw tokenizerUnavailable(id, 'the server names the model by a path, and this machine has no tokenizer.json there');
}

async function readFiles(folder: string, id: string): Promise<TokenizerFiles | undefined> {
  const tokenizer = await readJson(paths().join(folder, 'tokenizer.json'), id);
  return tokenizer && { tokenizer, config: (await readJson(paths().join(folder, 'tokenizer_config.json'), id)) ?? {} };
}

async function readJson(path: string, id: string): Promise<JsonObject | undefined> {
  try {
    return parseJson(await fileSystem().readFile(path)) as JsonObject;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw tokenizerUnavailable(id, `${path} could not be read`, error);
  }
}
