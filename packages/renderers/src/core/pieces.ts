import { encodedText, ModelInput, type ModelInputChunk } from '@tinkex/types';
import type { AddedTokens, RendererTokenizer } from './tokenizer.js';

/**
 * What a template writes in one go. Each piece is encoded by itself: tokens never merge across pieces, so where a template cuts matters.
 * A string is text in which added tokens such as `<|im_end|>` count.
 */
export type Piece =
  | string
  | { readonly text: string; readonly addedTokens: AddedTokens }
  | { readonly tokens: ArrayLike<number> }
  | { readonly chunk: ModelInputChunk; readonly length: number };

/** Text in which special tokens are only text. Added tokens that are not special, such as `<think>`, still count. */
export function ordinaryText(text: string): Piece {
  return { text, addedTokens: 'ordinary' };
}

/** Text in which no added token counts. */
export function plainText(text: string): Piece {
  return { text, addedTokens: 'none' };
}

/** An encoded piece. */
export type EncodedPiece = { readonly tokens: ArrayLike<number> } | { readonly chunk: ModelInputChunk; readonly length: number };

/** Encodes a piece; undefined when nothing is left of it. */
export function encodePiece(piece: Piece, tokenizer: RendererTokenizer): EncodedPiece | undefined {
  if (typeof piece === 'object' && 'chunk' in piece) return piece;
  const tokens = typeof piece === 'object' && 'tokens' in piece ? piece.tokens : encodeText(piece, tokenizer);
  return tokens.length === 0 ? undefined : { tokens };
}

function encodeText(piece: string | { readonly text: string; readonly addedTokens: AddedTokens }, tokenizer: RendererTokenizer) {
  const { text, addedTokens } = typeof piece === 'string' ? { text: piece, addedTokens: 'all' as const } : piece;
  return text === '' ? [] : tokenizer.encode(text, { addedTokens });
}

/** How many positions a piece takes. */
export function pieceLength(piece: EncodedPiece): number {
  return 'chunk' in piece ? piece.length : piece.tokens.length;
}

/** Puts pieces together. Neighboring tokens become one chunk. */
export function joinPieces(pieces: readonly EncodedPiece[]): ModelInput {
  const chunks: ModelInputChunk[] = [];
  let tokens: number[] = [];
  const closeText = () => {
    if (tokens.length > 0) chunks.push(encodedText(tokens));
    tokens = [];
  };
  for (const piece of pieces) {
    if ('chunk' in piece) {
      closeText();
      chunks.push(piece.chunk);
    } else {
      for (let index = 0; index < piece.tokens.length; index += 1) tokens.push(piece.tokens[index] as number);
    }
  }
  closeText();
  return new ModelInput(chunks);
}
