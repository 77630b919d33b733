import { BYTE_CHARACTERS } from './byte-alphabet.js';
import type { MergeTable } from './merge-table.js';
import { TokenMerger } from './merge-tokens.js';
import type { TokenBuffer } from './token-buffer.js';
import { writeUtf8 } from './utf8.js';

/** Pieces that are kept with their tokens, about 8 MB. Then the cache starts again from nothing. */
const MAX_CACHED_PIECES = 65_536;
/** Longer pieces seldom come twice. */
const MAX_CACHED_LENGTH = 32;

/** What byte pair encoding needs to know. */
export interface PieceEncoderParts {
  /** IDs of tokens by their text in the byte alphabet. */
  readonly idOfToken: ReadonlyMap<string, number>;
  readonly merges: MergeTable;
  /** By rank: the token that a pair becomes. */
  readonly mergedIds: ArrayLike<number>;
  /** Whether a piece that is a token as a whole is that token, even if no merges lead to it. */
  readonly prefersWholePieces: boolean;
}

/** Encodes the pieces that a split pattern makes of a text, each by itself. Remembers short pieces. */
export class PieceEncoder {
  readonly #byteIds: Int32Array;
  readonly #merger: TokenMerger;
  readonly #wholePieces: ReadonlyMap<string, number> | undefined;
  /** A piece of one token is kept as a number. */
  readonly #cache = new Map<string, number | Int32Array>();
  #bytes = new Uint8Array(256);
  #ids = new Int32Array(256);

  constructor({ idOfToken, merges, mergedIds, prefersWholePieces }: PieceEncoderParts) {
    this.#byteIds = Int32Array.from(BYTE_CHARACTERS, (character) => idOfToken.get(character) as number);
    this.#merger = new TokenMerger(merges, mergedIds);
    this.#wholePieces = prefersWholePieces ? idOfToken : undefined;
  }

  /** Appends the tokens of `piece` to `target`. */
  encode(piece: string, target: TokenBuffer): void {
    const known = this.#cache.get(piece);
    if (known === undefined) target.pushAll(this.#encodeNew(piece));
    else if (typeof known === 'number') target.push(known);
    else target.pushAll(known);
  }

  #encodeNew(piece: string): Int32Array {
    if (this.#bytes.length < piece.length * 3) {
      this.#bytes = new Uint8Array(piece.length * 3);
      this.#ids = new Int32Array(piece.length * 3);
    }
    const length = writeUtf8(piece, this.#bytes);
    const ids = this.#ids.subarray(0, this.#wholePiece(length) ?? this.#merge(length));
    if (piece.length <= MAX_CACHED_LENGTH) this.#remember(piece, ids);
    return ids;
  }

  /** 1 if the bytes are one token, which is then the first of the IDs. */
  #wholePiece(length: number): 1 | undefined {
    if (this.#wholePieces === undefined) return undefined;
    let text = '';
    for (let index = 0; index < length; index += 1) text += BYTE_CHARACTERS[this.#bytes[index] as number];
    const id = this.#wholePieces.get(text);
    if (id === undefined) return undefined;
    this.#ids[0] = id;
    return 1;
  }

  #merge(length: number): number {
    for (let index = 0; index < length; index += 1) this.#ids[index] = this.#byteIds[this.#bytes[index] as number] as number;
    return this.#merger.merge(this.#ids, length);
  }

  #remember(piece: string, ids: Int32Array): void {
    if (this.#cache.size === MAX_CACHED_PIECES) this.#cache.clear();
    this.#cache.set(copyOf(piece), ids.length === 1 ? (ids[0] as number) : ids.slice());
  }
}

/** The same text in memory that it does not share: engines make a part of a longer text a view, which keeps all of that text alive. */
function copyOf(piece: string): string {
  const units = new Array<number>(piece.length);
  for (let index = 0; index < piece.length; index += 1) units[index] = piece.charCodeAt(index);
  return String.fromCharCode.apply(null, units);
}
