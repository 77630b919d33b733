import { describe, expected } from '../errors/issue-text.js';
import { invalidRequest } from '../errors/validation-error.js';
import type { DmelChunk, EncodedTextChunk, ImageAssetPointerChunk, ImageChunk, ModelInputChunk } from '../model-input/chunks.js';
import { ModelInput } from '../model-input/model-input.js';
import { base64Decode, base64Encode } from '../proto/bytes.js';
import { list } from './collections.js';
import { tokens } from './number-arrays.js';
import { requestType } from './objects.js';
import { integer, oneOf, text } from './scalars.js';
import { placeIssues, type Schema, textThat } from './schema.js';
import { union } from './unions.js';
import { optional, type WireType } from './wire-type.js';

/** Bytes, as base64 text with padding. */
export function bytes(): WireType<Uint8Array> {
  const isText = textThat(() => true, expected('base64 text'));
  const isPadded = textThat(isBase64, () => 'must be base64 text with padding');
  const schema: Schema = (wire, issues) => (typeof wire === 'string' ? isPadded : isText)(wire, issues);
  return {
    schema: () => schema,
    toWire(value) {
      if (value instanceof Uint8Array) return base64Encode(value);
      // Text could be mistaken for base64 here, while protobuf sends bytes as they are.
      throw invalidRequest('', '', `must be a Uint8Array, got ${describe(value)}`);
    },
    fromWire: (wire) => base64Decode(wire as string),
  };
}

/** Length and alphabet only: one pass without backtracking, whatever the length. */
function isBase64(value: string): boolean {
  return value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

const format = oneOf('png', 'jpeg');

const chunk = union<ModelInputChunk, 'type'>('type', {
  encoded_text: requestType<Omit<EncodedTextChunk, 'type'>>({ tokens: tokens() }),
  image: requestType<Omit<ImageChunk, 'type'>>({ data: bytes(), format, expectedTokens: optional(integer({ min: 0 })) }),
  image_asset_pointer: requestType<Omit<ImageAssetPointerChunk, 'type'>>({
    location: text(),
    format,
    expectedTokens: optional(integer({ min: 0 })),
  }),
  dmel: requestType<Omit<DmelChunk, 'type'>>({ dmel: bytes() }),
});

const fields = requestType<{ readonly chunks: readonly ModelInputChunk[] }>({ chunks: list(chunk) });

/** A model's input. */
export const modelInputType: WireType<ModelInput> = {
  schema: fields.schema,
  toWire(value) {
    if (!ModelInput.isInstance(value)) throw invalidRequest('', '', 'must be a ModelInput; make one with ModelInput.fromInts(tokens)');
    return { chunks: placeIssues('chunks', () => value.chunks.map((entry, index) => placeIssues(index, () => chunk.toWire(entry)))) };
  },
  fromWire: (wire) => new ModelInput(fields.fromWire(wire).chunks),
  child: fields.child,
};
