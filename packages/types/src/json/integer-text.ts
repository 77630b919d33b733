import { decodeUtf8 } from './utf8.js';

/** Digits, sign and comma. */
const LONGEST = 12;
/** Integers that are made text at a time; more would need more memory without being faster. */
const BLOCK = 4096;
/** Below this the engine's own `join` is faster. */
const FEW = 64;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;

/** Writes lists of integers as JSON, digit by digit into bytes, which is faster than anything the engine offers. */
export class IntegerText {
  #bytes = new Uint8Array(0);

  /** `[1,-2,3]` of the first so many integers. */
  of(values: Int32Array, count: number): string {
    if (count < FEW) return `[${values.subarray(0, count).join(',')}]`;
    const size = Math.min(count, BLOCK) * LONGEST;
    if (this.#bytes.length < size) this.#bytes = new Uint8Array(size);
    let text = '[';
    for (let start = 0; start < count; start += BLOCK) {
      const end = writeIntegers(values, start, Math.min(start + BLOCK, count), this.#bytes);
      // Every integer is written with a comma behind it; the last one of all does without.
      text += decodeUtf8(this.#bytes.subarray(0, start + BLOCK < count ? end : end - 1));
    }
    return `${text}]`;
  }
}

/** Writes `1,-2,3,` and says where it ends. */
function writeIntegers(values: Int32Array, from: number, to: number, bytes: Uint8Array): number {
  let position = 0;
  for (let index = from; index < to; index += 1) {
    let rest = values[index] as number;
    if (rest < 0) {
      bytes[position++] = MINUS;
      // The smallest integer has no positive counterpart in 32 bits, so its last digit is written apart.
      if (rest === -2147483648) {
        position = writeDigits(214748364, bytes, position + 9);
        bytes[position++] = ZERO + 8;
        bytes[position++] = COMMA;
        continue;
      }
      rest = -rest;
    }
    // Weights are mostly 0 and 1.
    if (rest < 10) bytes[position++] = ZERO + rest;
    else position = writeDigits(rest, bytes, position + digitCount(rest));
    bytes[position++] = COMMA;
  }
  return position;
}

/** The two digits of each number below 100. */
const TENS = Uint8Array.from({ length: 100 }, (_, value) => ZERO + Math.floor(value / 10));
const ONES = Uint8Array.from({ length: 100 }, (_, value) => ZERO + (value % 10));

/** Writes the digits of a number from the last to the first, two at a time, so that they end before `end`. */
function writeDigits(value: number, bytes: Uint8Array, end: number): number {
  let rest = value;
  let at = end;
  while (rest >= 100) {
    const hundreds = (rest / 100) | 0;
    const pair = rest - hundreds * 100;
    at -= 2;
    bytes[at] = TENS[pair] as number;
    bytes[at + 1] = ONES[pair] as number;
    rest = hundreds;
  }
  bytes[at - 1] = ONES[rest] as number;
  if (rest >= 10) bytes[at - 2] = TENS[rest] as number;
  return end;
}

function digitCount(value: number): number {
  if (value < 100) return value < 10 ? 1 : 2;
  if (value < 10_000) return value < 1000 ? 3 : 4;
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  if (value < 100_000_000) return value < 10_000_000 ? 7 : 8;
  return value < 1_000_000_000 ? 9 : 10;
}
