import { byteVocabulary } from '@tinkex/types/wire';
import { checkToken } from './context-symbols.js';
import { EngineUserError } from './engine.js';

/** What callers may give as `stop`. */
export type StopParameter = string | readonly string[] | readonly number[] | Int32Array | undefined;

/**
 * When a sampled sequence is complete: after the end-of-text token, after a stop token, or as soon as its bytes end with a stop string. An
 * empty list turns all of that off, the end-of-text token too.
 * The tokens that complete the stop belong to the sequence, as the service has it.
 */
export class StopCondition {
  readonly #tokens: Set<number>;
  readonly #strings: Uint8Array[] = [];

  /** Throws {@link EngineUserError} for an empty string or a token outside the vocabulary. */
  constructor(stop: StopParameter) {
    const isOff = stop !== undefined && typeof stop !== 'string' && stop.length === 0;
    this.#tokens = new Set(isOff ? [] : [byteVocabulary.eos]);
    for (const item of typeof stop === 'string' ? [stop] : (stop ?? [])) {
      if (typeof item === 'number') {
        checkToken(item, 'in stop');
        this.#tokens.add(item);
      } else {
        if (item === '') throw new EngineUserError('stop holds an empty string, which would stop before the first token.');
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
