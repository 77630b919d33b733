import type { JsonValue } from '@tinkex/types';
import { stringifyJson } from '@tinkex/types/wire';

/** A list or an object that fits into this many characters stands on one line. */
const MAX_LINE = 120;

/** JSON to read and to compare: indented, with short values and lists of numbers on one line each. Ends with a newline. */
export function readableJson(value: JsonValue): string {
  return `${indented(value, '')}\n`;
}

function indented(value: JsonValue, indent: string): string {
  if (typeof value !== 'object' || value === null) return stringifyJson(value);
  const isList = Array.isArray(value);
  const compact = stringifyJson(value);
  if (compact.length <= MAX_LINE || (isList && value.every((entry) => typeof entry !== 'object'))) return compact;
  const deeper = `${indent}  `;
  const lines = isList
    ? value.map((entry: JsonValue) => `${deeper}${indented(entry, deeper)}`)
    : Object.entries(value).flatMap(([key, entry]) =>
        entry === undefined ? [] : [`${deeper}${JSON.stringify(key)}: ${indented(entry, deeper)}`],
      );
  const [open, close] = isList ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
