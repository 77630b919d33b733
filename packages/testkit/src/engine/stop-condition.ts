import { byteVocabulary } from '@tinkex/types/wire';
import { checkToken } from './context-symbols.js';
import { EngineUserError } from './engine.js';

/** What callers may give as `stop`. */
export type StopParameter = string | readonly string[] | readonly number[] | Int32Array | undefined;

/**
 * When a sampled sequence is complete: after the end-of-text token, after a stop token, or as soon as its bytes end with a stop string.
 * The tokens that complete the stop belong to the sequence, as the service has it.
 */
export class StopCondition {
  readonly #tokens = new Set<number>([byteVocabulary.eos]);
  readonly #strings: Uint8Array[] = [];

  /** Throws {@link EngineUserError} for an empty string or a token outside the vocabulary. */
  constructor(stop: StopParameter) {
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
