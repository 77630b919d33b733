import { ModelInput } from '@tinkex/types';
import { EngineUserError } from './engine.js';
import { hashBytes, hashText, mixBits } from './random.js';
import type { Vocabulary } from './vocabulary.js';

type Chunk = ModelInput['chunks'][number];

/** Throws unless `token` is in the vocabulary; `where` locates it in the message. */
export function checkToken(token: number, { size, hint }: Vocabulary, where: string): void {
  if (!Number.isInteger(token) || token < 0 || token >= size) {
    throw new EngineUserError(`Token ${token} (${where}) is not in the vocabulary of ${size} tokens. ${hint}`);
  }
}

/**
 * What the model reads: one symbol per position. Tokens stand for themselves. A position of an image or of audio gets a symbol drawn from the
 * hash of the chunk's content and of its position in the chunk, so that different media give different, repeatable contexts. They condition
 * the text but are never predicted. Throws {@link EngineUserError} for a token outside the vocabulary, an unknown length, or an input that is too long.
 */
export function contextSymbols(input: ModelInput, vocabulary: Vocabulary, maxLength: number, name: string): Int32Array {
  const lengths = input.chunks.map((chunk, index) => chunkLength(chunk, `${name}, chunk ${index}`));
  const length = lengths.reduce((sum, part) => sum + part, 0);
  if (length === 0) throw new EngineUserError(`The ${name} is empty: give at least one token.`);
  if (length > maxLength) throw new EngineUserError(`The ${name} has ${length} tokens; the model's context is ${maxLength}.`);
  const context = new Int32Array(length);
  let start = 0;
  for (const [index, chunk] of input.chunks.entries()) {
    const part = context.subarray(start, start + (lengths[index] as number));
    if (chunk.type === 'encoded_text') copyTokens(chunk.tokens, part, vocabulary, name, start);
    else fillMedia(chunk, part, vocabulary);
    start += part.length;
  }
  return context;
}

function chunkLength(chunk: Chunk, name: string): number {
  if (chunk.type === 'encoded_text') return chunk.tokens.length;
  try {
    return new ModelInput([chunk]).length;
  } catch (cause) {
    throw new EngineUserError(`The length of the ${name} (${chunk.type}) is not known: ${String((cause as Error).message)}`, { cause });
  }
}

function copyTokens(tokens: Int32Array, target: Int32Array, vocabulary: Vocabulary, name: string, start: number): void {
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as number;
    if (token < 0 || token >= vocabulary.size) checkToken(token, vocabulary, `position ${start + index} of the ${name}`);
    target[index] = token;
  }
}

function fillMedia(
  chunk: Exclude<Chunk, { type: 'encoded_text' }>,
  target: Int32Array,
  { firstMediaSymbol, mediaSymbols }: Vocabulary,
): void {
  const seed = mediaHash(chunk);
  for (let index = 0; index < target.length; index++) {
    target[index] = firstMediaSymbol + (mixBits(seed + Math.imul(index, 0x9e3779b9)) % mediaSymbols);
  }
}

function mediaHash(chunk: Exclude<Chunk, { type: 'encoded_text' }>): number {
  switch (chunk.type) {
    case 'image':
      return hashBytes(chunk.data, hashText('image'));
    case 'image_asset_pointer':
      return hashText(chunk.location, hashText('image_asset_pointer'));
    case 'dmel':
      return hashBytes(chunk.dmel, hashText('dmel'));
  }
}
