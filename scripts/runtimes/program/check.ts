import { ValidationError } from '../../../packages/types/src/index.js';

/** One thing that must hold in every runtime. Throws when it does not. */
export interface Check {
  readonly name: string;
  readonly run: () => void;
}

/** Names a check. */
export function check(name: string, run: () => void): Check {
  return { name, run };
}

/** Throws unless both hold the same: kinds of typed arrays, NaN, negative zero and bigints count; the order of names and unset fields do not. */
export function same(actual: unknown, expected: unknown): void {
  const [got, wanted] = [text(actual), text(expected)];
  if (got !== wanted) throw new Error(`got ${shorten(got)}, expected ${shorten(wanted)}`);
}

/** Throws unless `run` throws a `ValidationError`. */
export function refuses(run: () => unknown): void {
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    if (ValidationError.isInstance(error)) return;
    throw error;
  }
  throw new Error(`got ${shorten(text(result))}, expected a ValidationError`);
}

function text(value: unknown): string {
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(text).join(', ')}]`;
  if (ArrayBuffer.isView(value))
    return `${value.constructor.name} [${Array.from(value as unknown as ArrayLike<unknown>, text).join(', ')}]`;
  if (value instanceof Date) return `Date ${value.getTime()}`;
  const fields = Object.entries(value).filter(([, own]) => own !== undefined);
  return `{ ${fields
    .map(([key, own]) => `${key}: ${text(own)}`)
    .sort()
    .join(', ')} }`;
}

const SHOWN_CHARACTERS = 400;

function shorten(long: string): string {
  return long.length <= SHOWN_CHARACTERS ? long : `${long.slice(0, SHOWN_CHARACTERS)}… (${long.length} characters)`;
}
