import { image, type ModelInputChunk } from '@tinkex/types';
import type { MessageContext } from '../core/message-context.js';
import type { Piece } from '../core/pieces.js';
import type { ContentPart, ImageFile } from '../messages/message.js';
import type { ImageSize, RendererOptions } from './family.js';
import { imageSize } from './image-size.js';

declare function atob(base64: string): string;

const DATA_URI = /^data:image\/(png|jpe?g);base64,([A-Za-z0-9+/=\s]*)$/;

/** An image as the model reads it. Only images: audio and images without a counter of their tokens are refused. */
export function imagePiece(part: ContentPart, context: MessageContext, { countImageTokens }: RendererOptions): Piece {
  if (part.type !== 'image') throw context.invalid('content', `has a part of type ${part.type}, which this template does not know.`);
  if (countImageTokens === undefined) {
    throw context.invalid(
      'content',
      'has an image, but the renderer does not know how many tokens it takes. Pass the option countImageTokens.',
    );
  }
  return countedImage(part.image, context, countImageTokens);
}

/** As {@link imagePiece}, for families whose rule of counting is known. */
export function countedImage(source: string | ImageFile, context: MessageContext, count: (size: ImageSize) => number): Piece {
  const file = typeof source === 'string' ? fromDataUri(source) : source;
  if (file === undefined)
    throw context.invalid('content', 'has an image that is not a PNG or JPEG data URI. Load it first and pass { data, format }.');
  const size = imageSize(file.data);
  if (size === undefined) throw context.invalid('content', 'has an image whose bytes are neither PNG nor JPEG.');
  const length = count(size);
  const chunk: ModelInputChunk = image({ data: file.data, format: file.format, expectedTokens: length });
  return { chunk, length };
}

function fromDataUri(uri: string): ImageFile | undefined {
  const [, format, base64] = DATA_URI.exec(uri) ?? [];
  if (base64 === undefined) return undefined;
  return { format: format === 'png' ? 'png' : 'jpeg', data: Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)) };
}
