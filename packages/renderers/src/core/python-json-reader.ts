import type { PythonValue } from './python-json.js';

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const WHITESPACE = /[ \t\n\r]*/y;
/** Text up to the next quote or escape. Raw control characters are not allowed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them, so they are named.
const PLAIN_TEXT = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const WORDS: readonly (readonly [string, PythonValue])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
];
/** Deeper text is refused, so that no output of a model overflows the stack. */
const MAX_DEPTH = 500;

/** Text that Python's `json.loads` does not take. */
export class JsonSyntaxError extends SyntaxError {
  override readonly name = 'JsonSyntaxError';
}

/**
 * Python's `json.loads`: takes NaN and the infinities, keeps integers exact and keys in order; of a repeated key the last value stays at the first
 * place. Throws a `JsonSyntaxError`.
 */
export function loadJson(text: string): PythonValue {
  const reader = new JsonReader(text);
  const value = reader.readValue(0);
  reader.expectEnd();
  return value;
}

/** As {@link loadJson}, but undefined for text that is not JSON. */
export function tryLoadJson(text: string): PythonValue | undefined {
  try {
    return loadJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

class JsonReader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\uFEFF')) throw this.#problem('Unexpected UTF-8 BOM (decode using utf-8-sig)');
    this.#skipWhitespace();
  }

  expectEnd(): void {
    this.#skipWhitespace();
    if (this.#position < this.#text.length) throw this.#problem('Extra data');
  }

  readValue(depth: number): PythonValue {
    if (depth > MAX_DEPTH) throw this.#problem('Nested too deeply');
    const next = this.#text[this.#position];
    if (next === '{') return this.#readObject(depth);
    if (next === '[') return this.#readArray(depth);
    if (next === '"') return this.#readString();
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#position)) continue;
      this.#position += word.length;
      return value;
    }
    return this.#readNumber();
  }

  #readObject(depth: number): PythonValue {
    const entries = new Map<string, PythonValue>();
    this.#position += 1;
    this.#skipWhitespace();
    if (this.#take('}')) return entries;
    do {
      this.#skipWhitespace();
      if (this.#text[this.#position] !== '"') throw this.#problem('Expecting property name enclosed in double quotes');
      const key = this.#readString();
      this.#skipWhitespace();
      if (!this.#take(':')) throw this.#problem("Expecting ':' delimiter");
      this.#skipWhitespace();
      entries.set(key, this.readValue(depth + 1));
      this.#skipWhitespace();
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#problem("Expecting ',' delimiter");
    return entries;
  }

  #readArray(depth: number): PythonValue {
    const items: PythonValue[] = [];
    this.#position += 1;
    this.#skipWhitespace();
    if (this.#take(']')) return items;
    do {
      this.#skipWhitespace();
      items.push(this.readValue(depth + 1));
      this.#skipWhitespace();
    } while (this.#take(','));
    if (!this.#take(']')) throw this.#problem("Expecting ',' delimiter");
    return items;
  }

  #readString(): string {
    const start = this.#position;
    let text = '';
    this.#position += 1;
    for (;;) {
      text += this.#match(PLAIN_TEXT)?.[0] ?? '';
      if (this.#take('"')) return text;
      if (this.#position >= this.#text.length) throw this.#problem('Unterminated string starting at', start);
      if (!this.#take('\\')) throw this.#problem('Invalid control character at');
      text += this.#readEscape();
    }
  }

  #readEscape(): string {
    const letter = this.#text.charAt(this.#position);
    this.#position += 1;
    if (letter !== 'u') {
      const character = ESCAPES[letter];
      if (character === undefined) throw this.#problem('Invalid \\escape', this.#position - 2);
      return character;
    }
    const digits = this.#text.slice(this.#position, this.#position + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#problem('Invalid \\uXXXX escape');
    this.#position += 4;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #readNumber(): PythonValue {
    const match = this.#match(NUMBER);
    if (match === null) throw this.#problem('Expecting value');
    const [digits, fraction, exponent] = match;
    return fraction === undefined && exponent === undefined ? BigInt(digits) : Number(digits);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#position = pattern.lastIndex;
    return match;
  }

  #skipWhitespace(): void {
    this.#match(WHITESPACE);
  }

  #take(character: string): boolean {
    if (this.#text[this.#position] !== character) return false;
    this.#position += 1;
    return true;
  }

  /** An error in Python's words: users compare logs of both languages. */
  #problem(what: string, position = this.#position): JsonSyntaxError {
    const before = this.#text.slice(0, position);
    const column = Array.from(before.slice(before.lastIndexOf('\n') + 1)).length + 1;
    return new JsonSyntaxError(`${what}: line ${before.split('\n').length} column ${column} (char ${Array.from(before).length})`);
  }
}
