import { invalidResponse } from '../errors/invalid.js';
import { markExactIntegers } from './exact-integers.js';
import type { JsonValue } from './json-value.js';
import { decodeUtf8 } from './utf8.js';

/**
 * Reads JSON text, or its UTF-8 bytes. Integers beyond 2^53 come as bigints, exact. Throws a `ValidationError` (direction
 * `response`) for anything that is not JSON.
 */
export function parseJson(input: string | Uint8Array): JsonValue {
  let text = '';
  try {
    text = typeof input === 'string' ? input : decodeUtf8(input);
    const value = JSON.parse(text) as JsonValue;
    return hasInexactInteger(value) ? parseExactly(text) : value;
  } catch {
    // The engine's error quotes the text, which may hold a secret, so it is not even the cause: say only how long the text was.
    throw invalidResponse('JSON', '', text === '' ? 'the body is empty or not UTF-8' : `the body is not JSON (${text.length} characters)`);
  }
}

/** Whether a number was read that may have been an integer the reader had to round. Walks without recursion: depth is no limit. */
function hasInexactInteger(root: unknown): boolean {
  if (typeof root !== 'object' || root === null) return typeof root === 'number' && isInexact(root);
  const pending: object[] = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const values: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    // Bulk numbers have a loop of their own, which the engine can compile for them alone.
    const start = typeof values[0] === 'number' ? countExactNumbers(values as readonly number[]) : 0;
    for (let index = start; index < values.length; index += 1) {
      const value = values[index];
      if (typeof value === 'object') {
        if (value !== null) pending.push(value);
      } else if (typeof value === 'number' && isInexact(value)) return true;
    }
  }
  return false;
}

/** How many values from the start on are numbers that cannot have been rounded integers. */
function countExactNumbers(values: readonly number[]): number {
  let index = 0;
  while (index < values.length && typeof values[index] === 'number' && !isInexact(values[index] as number)) index += 1;
  return index;
}

function isInexact(value: number): boolean {
  return (value > Number.MAX_SAFE_INTEGER || value < -Number.MAX_SAFE_INTEGER) && Number.isInteger(value);
}

function parseExactly(text: string): JsonValue {
  const { text: marked, marker } = markExactIntegers(text);
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(marker) ? BigInt(value.slice(marker.length)) : value,
  ) as JsonValue;
}
