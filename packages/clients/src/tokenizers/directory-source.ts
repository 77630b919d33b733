import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@tinkex/types';
import { parseJson } from '@tinkex/types/wire';
import { type TokenizerFiles, type TokenizerReference, tokenizerIdParts, tokenizerUnavailable } from './tokenizer-source.js';

/**
 * Reads a tokenizer's files from a directory: `<directory>/<id>/tokenizer.json`, so that one directory can hold several, else
 * `<directory>/tokenizer.json`.
 */
export async function readTokenizerDirectory(directory: string, { id }: TokenizerReference): Promise<TokenizerFiles> {
  for (const folder of [join(directory, ...tokenizerIdParts(id)), directory]) {
    const tokenizer = await readJson(join(folder, 'tokenizer.json'), id);
    if (tokenizer) return { tokenizer, config: (await readJson(join(folder, 'tokenizer_config.json'), id)) ?? {} };
  }
  throw tokenizerUnavailable(id, `${directory} holds no tokenizer.json, neither itself nor in ${id}/`);
}

async function readJson(path: string, id: string): Promise<JsonObject | undefined> {
  try {
    return parseJson(await readFile(path)) as JsonObject;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw tokenizerUnavailable(id, `${path} could not be read`, error);
  }
}
