/** What every runtime has and the language's own library does not declare. */
declare class TextEncoder {
  encodeInto(text: string, bytes: Uint8Array): { readonly written: number };
}

/** What every runtime has and the language's own library does not declare. */
declare class TextDecoder {
  constructor(encoding: string, options: { readonly ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}

const SHORT = 24;
const LONGEST_INT32 = 11;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;

/** Text that grows, as UTF-8 bytes. */
export class TextBuffer {
  readonly #encoder = new TextEncoder();
  #bytes = new Uint8Array(1024);
  #length = 0;

  /** Adds text. */
  text(text: string): void {
    this.#reserve(text.length * 3);
    if (text.length > SHORT || !this.#short(text))
      this.#length += this.#encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written;
  }

  /** Adds a JSON array of the first so many integers. */
  integers(values: Int32Array, count: number): void {
    this.#reserve(count * (LONGEST_INT32 + 1) + 2);
    this.#length = writeIntegers(values, count, this.#bytes, this.#length);
  }

  toString(): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#bytes.subarray(0, this.#length));
  }

  /** Adds short text byte by byte if it is ASCII; calling the encoder would take longer. */
  #short(text: string): boolean {
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return false;
      this.#bytes[this.#length + index] = code;
    }
    this.#length += text.length;
    return true;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** Writes `[1,-2,3]` and says where it ends. */
function writeIntegers(values: Int32Array, count: number, bytes: Uint8Array, start: number): number {
  let position = start;
  bytes[position++] = 91;
  for (let index = 0; index < count; index += 1) {
    if (index > 0) bytes[position++] = COMMA;
    let rest = values[index] as number;
    if (rest < 0) {
      bytes[position++] = MINUS;
      // The smallest integer has no positive counterpart in 32 bits: its last digit is written first.
      if (rest === -2147483648) {
        bytes[position + 9] = ZERO + 8;
        position = writeDigits(214748364, bytes, position, position + 9) + 1;
        continue;
      }
      rest = -rest;
    }
    position = writeDigits(rest, bytes, position, position + digitCount(rest));
  }
  bytes[position++] = 93;
  return position;
}

/** Writes the digits of a number from the last to the first. */
function writeDigits(value: number, bytes: Uint8Array, start: number, end: number): number {
  let rest = value;
  for (let at = end - 1; at >= start; at -= 1) {
    const tens = (rest / 10) | 0;
    bytes[at] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return end;
}

function digitCount(value: number): number {
  if (value < 100) return value < 10 ? 1 : 2;
  if (value < 10_000) return value < 1000 ? 3 : 4;
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  if (value < 100_000_000) return value < 10_000_000 ? 7 : 8;
  return value < 1_000_000_000 ? 9 : 10;
}
