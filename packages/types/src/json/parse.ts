import { invalidResponse } from '../errors/validation-error.js';
import { countInt32, looksWhole, peek } from '../tensor/numbers.js';
import { markExactIntegers } from './exact-integers.js';
import type { JsonValue } from './json-value.js';

/** What every runtime has and the language's own library does not declare. */
declare class TextDecoder {
  constructor(encoding: string, options: { readonly fatal: boolean });
  decode(bytes: Uint8Array): string;
}

const MAX_SHORT_TEXT = 4096;
/** Of V8, in 64-bit processes. */
const MAX_TEXT_LENGTH = 2 ** 29 - 24;
/** An integer beyond 2^53 has at least this many digits. */
const LONG_NUMBER = /\d{16}/;

/**
 * Reads JSON text, or its UTF-8 bytes. Integers beyond 2^53 come as bigints, exact. Throws a `ValidationError` (direction
 * `response`) for anything that is not JSON.
 */
export function parseJson(input: string | Uint8Array): JsonValue {
  let text = '';
  try {
    text = typeof input === 'string' ? input : decodeUtf8(input);
    const value = JSON.parse(text) as JsonValue;
    // Most answers are short and hold no long number: scanning their text once is cheaper than walking the value.
    if (text.length <= MAX_SHORT_TEXT && !LONG_NUMBER.test(text)) return value;
    return hasInexactInteger(value) ? parseExactly(text) : value;
  } catch {
    // The engine's error quotes the text, which may hold a secret, so it is not even the cause: say only how long the text was.
    throw invalidResponse('JSON', '', text === '' ? unreadable(input) : `the body is not JSON (${text.length} characters)`);
  }
}

function unreadable(input: string | Uint8Array): string {
  if (input.length <= MAX_TEXT_LENGTH) return 'the body is empty or not UTF-8';
  return `the body has ${input.length} bytes, more than one text can hold`;
}

/** Text of UTF-8 bytes; a leading byte order mark is skipped. Throws a `TypeError` for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true });
  return decoder.decode(bytes);
}

let decoder: TextDecoder | undefined;

/** Whether a value holds a number that may have been an integer the reader had to round. Walks without recursion, so depth does not matter. */
function hasInexactInteger(root: unknown): boolean {
  if (typeof root !== 'object' || root === null) return isInexact(root);
  const bulk = new BulkCheck();
  const pending: object[] = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next) && bulk.isHarmless(next)) continue;
    const values: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index];
      if (typeof value === 'object') {
        if (value !== null) pending.push(value);
      } else if (isInexact(value)) return true;
    }
  }
  return false;
}

function isInexact(value: unknown): boolean {
  return typeof value === 'number' && (value > Number.MAX_SAFE_INTEGER || value < -Number.MAX_SAFE_INTEGER) && Number.isInteger(value);
}

const MIN_BULK = 16;
const NO_NUMBERS = new Float64Array(0);

/**
 * Checks long arrays of numbers fast. Tokens are small integers. The engine copies other numbers into a typed array in one go: anything
 * else becomes NaN there, or is too small to be an integer that was rounded. An array about which this is unsure is walked value by value.
 */
class BulkCheck {
  #copy = NO_NUMBERS;

  isHarmless(values: readonly unknown[]): boolean {
    if (values.length < MIN_BULK) return false;
    if (typeof peek(values, 0) !== 'number') return false;
    if (looksWhole(values) && countInt32(values) === values.length) return true;
    if (this.#copy.length < values.length) this.#copy = new Float64Array(values.length * 2);
    try {
      this.#copy.set(values as readonly number[]);
    } catch {
      // One of them is an object that cannot become a number.
      return false;
    }
    return areSafe(this.#copy, values.length);
  }
}

function areSafe(numbers: Float64Array, length: number): boolean {
  for (let index = 0; index < length; index += 1) {
    const value = numbers[index] as number;
    // Written so that NaN fails.
    if (!(value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER)) return false;
  }
  return true;
}

function parseExactly(text: string): JsonValue {
  const { text: marked, marker } = markExactIntegers(text);
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(marker) ? BigInt(value.slice(marker.length)) : value,
  ) as JsonValue;
}
