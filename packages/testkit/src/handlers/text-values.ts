import type { JsonValue } from '@tinkex/types';
import { stringifyJson } from '@tinkex/types/wire';

/** Metadata as answers report it: text only. Whole numbers beyond 2^53 are bigints here. */
export function textValues(metadata: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, typeof value === 'string' ? value : stringifyJson(value as JsonValue)]),
  );
}
