import type { AddedTokens, EncodeOptions, RendererTokenizer } from '../core/tokenizer.js';
import { type AddedToken, AddedTokenFinder } from './added-token-finder.js';
import { bytesOfToken } from './byte-alphabet.js';
import { PieceEncoder, type PieceEncoderParts } from './piece-encoder.js';
import { type SplitStep, splitText } from './text-splitter.js';
import { TokenBuffer } from './token-buffer.js';
import { type TokenizerConfig, textBoundsOf } from './tokenizer-config.js';
import { decodeUtf8, encodeUtf8 } from './utf8.js';

/** A tokenizer whose tokens come as an `Int32Array`. */
export interface ByteLevelTokenizer extends RendererTokenizer {
  encode(text: string, options?: EncodeOptions): Int32Array;
}

/** The parts of a {@link BpeTokenizer}. */
export interface BpeTokenizerParts extends PieceEncoderParts {
  readonly addedTokens: readonly AddedToken[];
  readonly normalizesToNfc: boolean;
  readonly splitSteps: readonly SplitStep[];
  readonly config: TokenizerConfig;
}

interface Finders {
  readonly raw: AddedTokenFinder;
  readonly normalized: AddedTokenFinder;
}

const EMPTY = new Uint8Array(0);
/** They have no UTF-8 form. Replaced before the text is split, because some patterns treat U+FFFD differently. */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Byte-level byte pair encoding. Make one with `bpeTokenizer` or `tiktokenTokenizer`. */
export class BpeTokenizer implements ByteLevelTokenizer {
  readonly bosTokenId: number | undefined;
  readonly eosTokenId: number | undefined;
  readonly #parts: BpeTokenizerParts;
  readonly #pieces: PieceEncoder;
  readonly #finders = new Map<AddedTokens, Finders>();
  readonly #addedIds: ReadonlyMap<string, number>;
  readonly #specialIds: ReadonlySet<number>;
  readonly #tokenOfId: ReadonlyMap<number, string>;
  readonly #bytesOfId = new Map<number, Uint8Array>();
  readonly #buffer = new TokenBuffer();

  constructor(parts: BpeTokenizerParts) {
    const { addedTokens, idOfToken } = parts;
    this.#parts = parts;
    this.#pieces = new PieceEncoder(parts);
    this.#addedIds = new Map(addedTokens.map(({ content, id }) => [content, id]));
    this.#specialIds = new Set(addedTokens.filter(({ isSpecial }) => isSpecial).map(({ id }) => id));
    const tokenOfId = new Map<number, string>();
    for (const [token, id] of idOfToken) tokenOfId.set(id, token);
    for (const { id, content } of addedTokens) tokenOfId.set(id, content);
    this.#tokenOfId = tokenOfId;
    const { bosTokenId, eosTokenId } = textBoundsOf(parts.config, (token) => this.tokenId(token));
    this.bosTokenId = bosTokenId;
    this.eosTokenId = eosTokenId;
  }

  encode(text: string, { addedTokens = 'all' }: EncodeOptions = {}): Int32Array {
    const buffer = this.#buffer;
    const { raw, normalized } = this.#findersFor(addedTokens);
    const push = (id: number) => buffer.push(id);
    const encodeText = (part: string) => {
      for (const piece of splitText(part, this.#parts.splitSteps)) this.#pieces.encode(piece, buffer);
    };
    const findNormalized = (part: string) => normalized.split(this.#normalize(part), encodeText, push);
    raw.split(text.replace(LONE_SURROGATES, '\ufffd'), findNormalized, push);
    return buffer.take();
  }

  decode(ids: ArrayLike<number>, { skipSpecialTokens = false }: { readonly skipSpecialTokens?: boolean | undefined } = {}): string {
    const tokens: Uint8Array[] = [];
    let length = 0;
    for (let index = 0; index < ids.length; index += 1) {
      const id = ids[index] as number;
      if (skipSpecialTokens && this.#specialIds.has(id)) continue;
      const bytes = this.#bytesOf(id);
      tokens.push(bytes);
      length += bytes.length;
    }
    const all = new Uint8Array(length);
    let offset = 0;
    for (const bytes of tokens) {
      all.set(bytes, offset);
      offset += bytes.length;
    }
    return decodeUtf8(all);
  }

  tokenId(token: string): number | undefined {
    return this.#addedIds.get(token) ?? this.#parts.idOfToken.get(token);
  }

  #normalize(text: string): string {
    return this.#parts.normalizesToNfc ? text.normalize('NFC') : text;
  }

  #findersFor(which: AddedTokens): Finders {
    let finders = this.#finders.get(which);
    if (finders === undefined) {
      const tokens = this.#parts.addedTokens.filter(({ isSpecial }) => which === 'all' || (which === 'ordinary' && !isSpecial));
      finders = {
        raw: new AddedTokenFinder(tokens.filter(({ isNormalized }) => !isNormalized)),
        normalized: new AddedTokenFinder(
          tokens.filter(({ isNormalized }) => isNormalized).map((token) => ({ ...token, content: this.#normalize(token.content) })),
        ),
      };
      this.#finders.set(which, finders);
    }
    return finders;
  }

  /** An unknown ID has no bytes. An added token with a character outside the byte alphabet is written as it is, as the reference does. */
  #bytesOf(id: number): Uint8Array {
    let bytes = this.#bytesOfId.get(id);
    if (bytes === undefined) {
      const token = this.#tokenOfId.get(id);
      bytes = token === undefined ? EMPTY : (bytesOfToken(token) ?? encodeUtf8(token));
      this.#bytesOfId.set(id, bytes);
    }
    return bytes;
  }
}
