import { BYTE_CHARACTERS } from './byte-alphabet.js';
import type { MergeTable } from './merge-table.js';
import { TokenMerger } from './merge-tokens.js';
import type { TokenBuffer } from './token-buffer.js';
import { writeUtf8 } from './utf8.js';

/** Pieces that are kept with their tokens, about 8 MB. Then the cache starts again from nothing. */
const MAX_CACHED_PIECES = 65_536;
/** Longer pieces seldom come twice. */
const MAX_CACHED_LENGTH = 32;

/** Code units of pieces for which memory is kept ready. A longer piece gets separate memory, which is released afterwards. */
const MAX_READY_LENGTH = 2_048;
/** Bytes of UTF-8 per code unit, at most. */
const BYTES_PER_UNIT = 3;

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

/** Memory to encode one piece in. */
interface Workspace {
  readonly bytes: Uint8Array;
  readonly ids: Int32Array;
  readonly merger: TokenMerger;
}

/** Encodes the pieces that a split pattern makes of a text, each by itself. Remembers short pieces. */
export class PieceEncoder {
  readonly #parts: PieceEncoderParts;
  readonly #byteIds: Int32Array;
  readonly #ready: Workspace;
  /** A piece of one token is kept as a number. */
  readonly #cache = new Map<string, number | Int32Array>();

  constructor(parts: PieceEncoderParts) {
    this.#parts = parts;
    this.#byteIds = Int32Array.from(BYTE_CHARACTERS, (character) => parts.idOfToken.get(character) as number);
    this.#ready = this.#workspaceFor(MAX_READY_LENGTH);
  }

  /** Appends the tokens of `piece` to `target`. */
  encode(piece: string, target: TokenBuffer): void {
    const known = this.#cache.get(piece);
    if (known === undefined) target.pushAll(this.#encodeNew(piece));
    else if (typeof known === 'number') target.push(known);
    else target.pushAll(known);
  }

  #encodeNew(piece: string): Int32Array {
    const { bytes, ids, merger } = piece.length <= MAX_READY_LENGTH ? this.#ready : this.#workspaceFor(piece.length);
    const length = writeUtf8(piece, bytes);
    const whole = this.#parts.prefersWholePieces ? this.#parts.idOfToken.get(tokenOf(bytes, length)) : undefined;
    if (whole !== undefined) ids[0] = whole;
    else for (let index = 0; index < length; index += 1) ids[index] = this.#byteIds[bytes[index] as number] as number;
    const encoded = ids.subarray(0, whole === undefined ? merger.merge(ids, length) : 1);
    if (piece.length <= MAX_CACHED_LENGTH) this.#remember(piece, encoded);
    return encoded;
  }

  #workspaceFor(pieceLength: number): Workspace {
    const capacity = pieceLength * BYTES_PER_UNIT;
    const merger = new TokenMerger(this.#parts.merges, this.#parts.mergedIds, capacity);
    return { bytes: new Uint8Array(capacity), ids: new Int32Array(capacity), merger };
  }

  #remember(piece: string, ids: Int32Array): void {
    if (this.#cache.size === MAX_CACHED_PIECES) this.#cache.clear();
    this.#cache.set(copyOf(piece), ids.length === 1 ? (ids[0] as number) : ids.slice());
  }
}

/** Bytes as the text of a token. */
function tokenOf(bytes: Uint8Array, length: number): string {
  let token = '';
  for (let index = 0; index < length; index += 1) token += BYTE_CHARACTERS[bytes[index] as number];
  return token;
}

/** The same text in memory that it does not share: engines make a part of a longer text a view, which keeps all of that text alive. */
function copyOf(piece: string): string {
  const units = new Array<number>(piece.length);
  for (let index = 0; index < piece.length; index += 1) units[index] = piece.charCodeAt(index);
  return String.fromCharCode.apply(null, units);
}
