/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** One object of a file in a run folder. */
export type JsonRecord = { readonly [key: string]: Json | undefined };

/** A string, which stays as it is, or a number that Python writes without quotes. */
const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;
/** Marks the numbers while they pass through `JSON.parse`. No file of text contains it. */
const MARK = '\u0000number:';

/** Parses JSON in which Python has written `NaN`, `Infinity` and `-Infinity` as numbers. Throws a `SyntaxError` for anything else that is not JSON. */
export function parseLenientJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const marked = text.replace(STRING_OR_NON_FINITE, (part) => (part.startsWith('"') ? part : JSON.stringify(MARK + part)));
    if (marked === text) throw error;
    return JSON.parse(marked, (_key, value: unknown) =>
      typeof value === 'string' && value.startsWith(MARK) ? Number(value.slice(MARK.length)) : value,
    ) as Json;
  }
}

/**
 * Writes a value as one line in the style of Python's `json.dumps`: a space after each comma and colon, ASCII only. A number that is not finite becomes
 * `null`, so that every JSON parser reads the line; undefined fields are left out.
 */
export function stringifyLine(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return escapeNonAscii(JSON.stringify(value));
  if (typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(stringifyLine).join(', ')}]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([key, field]) => `${stringifyLine(key)}: ${stringifyLine(field)}`).join(', ')}}`;
}

/** Whether a JSON value is an object, and not a list. */
export function isJsonRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === 'object' && value !== null && !isList(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
