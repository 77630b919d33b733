import { invalidRequest } from '../errors/validation-error.js';
import { countInt32, int32Of, isTypedArray } from '../tensor/numbers.js';
import { tensorContainerShape } from './tensor-container.js';

/** Tokens. */
export interface EncodedTextChunk {
  readonly type: 'encoded_text';
  readonly tokens: Int32Array;
}

/** The formats of images. */
export type ImageFormat = 'png' | 'jpeg';

/** An image, as the bytes of its file. */
export interface ImageChunk {
  readonly type: 'image';
  readonly data: Uint8Array;
  readonly format: ImageFormat;
  /** How many tokens the image takes. Advisory: the server counts, too, and may refuse a request with a wrong number. */
  readonly expectedTokens?: number | undefined;
}

/** An image that the server fetches. Sampling only. */
export interface ImageAssetPointerChunk {
  readonly type: 'image_asset_pointer';
  /** A path or URL the server can read. */
  readonly location: string;
  readonly format: ImageFormat;
  /** As in {@link ImageChunk.expectedTokens}. */
  readonly expectedTokens?: number | undefined;
}

/** Audio, as the bytes of a TensorContainer of discrete mel frames. */
export interface DmelChunk {
  readonly type: 'dmel';
  readonly dmel: Uint8Array;
}

/** A piece of a model's input. */
export type ModelInputChunk = EncodedTextChunk | ImageChunk | ImageAssetPointerChunk | DmelChunk;

/** A chunk of tokens. An `Int32Array` is not copied. Throws a `ValidationError` for a token outside int32. */
export function encodedText(tokens: readonly number[] | Int32Array): EncodedTextChunk {
  return { type: 'encoded_text', tokens: toTokens(tokens, 'tokens') };
}

/** A chunk with an image. Throws a `ValidationError` for anything but a `Uint8Array`. */
export function image(options: { data: Uint8Array; format: ImageFormat; expectedTokens?: number | undefined }): ImageChunk {
  const { data, format, expectedTokens } = options;
  return { type: 'image', data: toBytes(data, 'data'), format, expectedTokens };
}

/** A chunk with the location of an image. */
export function imageAssetPointer(options: {
  location: string;
  format: ImageFormat;
  expectedTokens?: number | undefined;
}): ImageAssetPointerChunk {
  const { location, format, expectedTokens } = options;
  return { type: 'image_asset_pointer', location, format, expectedTokens };
}

/** A chunk with audio. Throws a `ValidationError` for anything but a `Uint8Array`. */
export function dmel(bytes: Uint8Array): DmelChunk {
  return { type: 'dmel', dmel: toBytes(bytes, 'dmel') };
}

/**
 * How many tokens a chunk takes. Throws a `ValidationError` if that is unknown: an image without `expectedTokens`, audio with an
 * invalid header.
 */
export function chunkLength(chunk: ModelInputChunk): number {
  switch (chunk.type) {
    case 'encoded_text':
      return chunk.tokens.length;
    case 'dmel': {
      const length = tensorContainerShape(chunk.dmel)[0];
      if (length === undefined) throw invalidRequest('DmelChunk', 'dmel', 'is a scalar: it has no dimension to count frames by');
      return length;
    }
    default:
      if (chunk.expectedTokens !== undefined) return chunk.expectedTokens;
      throw invalidRequest('ModelInput', 'expectedTokens', 'is unset, so the length of the image is not known; set it to count tokens');
  }
}

/** Tokens as the wire needs them. An `Int32Array` is returned as it is; other arrays are checked and copied. */
export function toTokens(tokens: ArrayLike<number>, path: string): Int32Array {
  if (tokens instanceof Int32Array) return tokens;
  if (typeof tokens === 'string') {
    const cure = 'tokenize it: ModelInput.fromText(text, await client.getTokenizer())';
    throw invalidRequest('ModelInput', path, `must be an array of token ids, not text; ${cure}`);
  }
  if (!Array.isArray(tokens) && !isTypedArray(tokens)) throw invalidRequest('ModelInput', path, 'must be an array of token ids');
  const ints = int32Of(tokens);
  if (ints !== undefined) return ints;
  const wrong = countInt32(tokens);
  throw invalidRequest('ModelInput', `${path}[${wrong}]`, `must be a whole number inside int32, got ${String(tokens[wrong])}`);
}

function toBytes(bytes: Uint8Array, path: string): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  throw invalidRequest('ModelInput', path, 'must be a Uint8Array');
}
