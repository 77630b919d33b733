import { checkToken } from './context-symbols.js';
import { EngineUserError } from './engine.js';
import type { Vocabulary } from './vocabulary.js';

/** What callers may give as `stop`. */
export type StopParameter = string | readonly string[] | readonly number[] | Int32Array | undefined;

/**
 * When a sampled sequence is complete: after an end token of the model, after a stop token, or as soon as its bytes end with a stop string. An
 * empty list turns all of that off, the end tokens too.
 * The tokens that complete the stop belong to the sequence, as the service has it.
 */
export class StopCondition {
  readonly #tokens: Set<number>;
  readonly #strings: Uint8Array[] = [];

  /** Throws {@link EngineUserError} for an empty string, a token outside the vocabulary, or a string where tokens are not bytes. */
  constructor(stop: StopParameter, vocabulary: Vocabulary) {
    const isOff = stop !== undefined && typeof stop !== 'string' && stop.length === 0;
    this.#tokens = new Set(isOff ? [] : vocabulary.endTokens);
    for (const item of typeof stop === 'string' ? [stop] : (stop ?? [])) {
      if (typeof item === 'number') {
        checkToken(item, vocabulary, 'in stop');
        this.#tokens.add(item);
      } else {
        if (item === '') throw new EngineUserError('stop holds an empty string, which would stop before the first token.');
        if (!vocabulary.isByteLevel) {
          throw new EngineUserError(
            `stop holds the text ${JSON.stringify(item)}, but this server has no tokenizer for the model: give stop as token ids.`,
          );
        }
        this.#strings.push(new TextEncoder().encode(item));
      }
    }
  }

  /** Whether `tokens[start, end)`, what has been sampled so far, is complete. */
  isMet(tokens: Int32Array, start: number, end: number): boolean {
    if (this.#tokens.has(tokens[end - 1] as number)) return true;
    return this.#strings.some(
      (bytes) => end - start >= bytes.length && bytes.every((byte, index) => tokens[end - bytes.length + index] === byte),
    );
  }
}
