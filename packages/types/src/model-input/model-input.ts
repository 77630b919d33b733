import { invalidRequest } from '../errors/validation-error.js';
import { hasKind, markKind } from '../kind.js';
import { encodedIds, type Tokenizer } from '../tokenizer/tokenizer.js';
import { chunkLength, encodedText, type ModelInputChunk, toTokens } from './chunks.js';

/**
 * What a model reads: tokens, images, audio, in order. Immutable; `append` and `appendInt` give a new one.
 *
 * @example
 * const prompt = ModelInput.fromInts([1, 2, 3]).append(image({ data, format: 'png', expectedTokens: 64 }));
 * prompt.length; // 67
 */
export class ModelInput {
  readonly chunks: readonly ModelInputChunk[];

  /** Takes chunks as they are; build them with `encodedText`, `image`, `imageAssetPointer` and `dmel`. */
  constructor(chunks: readonly ModelInputChunk[] = []) {
    this.chunks = Object.freeze([...chunks]);
  }

  /** One chunk of tokens. An `Int32Array` is not copied: do not write into it afterwards. Tokens must be whole and inside int32. */
  static fromInts(ints: readonly number[] | Int32Array): ModelInput {
    return new ModelInput([encodedText(ints)]);
  }

  /** One chunk with the tokens of a text. */
  static fromText(text: string, tokenizer: Tokenizer): ModelInput {
    return new ModelInput([{ type: 'encoded_text', tokens: toTokens(encodedIds(tokenizer.encode(text)), 'tokens') }]);
  }

  /** No chunks. */
  static empty(): ModelInput {
    return new ModelInput();
  }

  /** True for a model input from any copy of this package. */
  static isInstance(value: unknown): value is ModelInput {
    return hasKind(value, 'ModelInput');
  }

  /** A new input with one more chunk. */
  append(chunk: ModelInputChunk): ModelInput {
    return new ModelInput([...this.chunks, chunk]);
  }

  /** A new input with one more token, as a separate chunk. */
  appendInt(token: number): ModelInput {
    return this.append(encodedText([token]));
  }

  /** How many tokens all chunks take. Throws a `ValidationError` for an image without `expectedTokens`. */
  get length(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunkLength(chunk), 0);
  }

  /** All tokens in one array. Throws a `ValidationError` when a chunk is not text. With a single chunk it is that chunk's array. */
  toInts(): Int32Array {
    const parts = this.chunks.map((chunk, index) => {
      if (chunk.type === 'encoded_text') return chunk.tokens;
      throw invalidRequest('ModelInput', `chunks[${index}]`, `is ${chunk.type}, which has no token ids`);
    });
    const [first] = parts;
    if (first !== undefined && parts.length === 1) return first;
    const ints = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let offset = 0;
    for (const part of parts) {
      ints.set(part, offset);
      offset += part.length;
    }
    return ints;
  }
}

markKind(ModelInput, 'ModelInput');
