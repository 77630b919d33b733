import type { TinkexEventName, TinkexEvents } from '@tinkex/types';
import { redactText } from '@tinkex/types/wire';
import { eventFields } from './event-fields.js';

/** What a sink receives of an event: plain JSON-able values. */
export type EventFieldValues = Record<string, unknown>;

const maxTextLength = 500;

/**
 * Copies the allow-listed fields of an event that are set. Texts are redacted and cut at 500 characters, so that a publisher's
 * mistake (a key in a URL, a page of server text) stays inside.
 */
export function pickFields<Name extends TinkexEventName>(name: Name, event: TinkexEvents[Name]): EventFieldValues {
  const picked: EventFieldValues = {};
  const values = event as unknown as Readonly<Record<string, unknown>>;
  for (const field of eventFields[name] as readonly string[]) {
    const value = values[field];
    if (value === undefined) continue;
    picked[field] = field === 'metrics' ? finiteNumbers(value) : scalar(value);
  }
  return picked;
}

function scalar(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return redactText(value, maxTextLength);
  // Catalogue fields are scalars; anything else was put there by mistake and is not shown.
  return `[${typeof value}]`;
}

function finiteNumbers(value: unknown): Record<string, number> {
  const numbers: Record<string, number> = {};
  if (typeof value !== 'object' || value === null) return numbers;
  for (const [key, entry] of Object.entries(value)) {
    if (typeof entry === 'number') numbers[key] = entry;
  }
  return numbers;
}
