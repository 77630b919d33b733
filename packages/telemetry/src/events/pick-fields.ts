import type { TinkexEventName, TinkexEvents } from '@tinkex/types';
import { redactText } from '@tinkex/types/wire';
import { EVENT_NAMES, EVENTS } from './catalogue.js';

/** What a sink receives of an event: plain values that serialize as JSON. */
export type EventFieldValues = Record<string, unknown>;

const MAX_TEXT_LENGTH = 500;
const MAX_LIST_LENGTH = 100;

const ALLOWED_FIELDS: ReadonlyMap<TinkexEventName, readonly string[]> = new Map(
  EVENT_NAMES.map((name) => {
    const fields = Object.entries<boolean>(EVENTS[name].fields);
    return [name, fields.filter(([, isAllowed]) => isAllowed).map(([field]) => field)];
  }),
);

/**
 * Copies the fields of an event that are set and may leave the process. Texts are redacted and cut at 500 characters, so that a mistake of
 * a publisher (a key in a URL, a page of server text) stays inside.
 */
export function pickFields<Name extends TinkexEventName>(name: Name, event: TinkexEvents[Name]): EventFieldValues {
  const picked: EventFieldValues = {};
  const values = event as unknown as Readonly<Record<string, unknown>>;
  for (const field of ALLOWED_FIELDS.get(name) ?? []) {
    const value = values[field];
    if (value !== undefined) picked[field] = field === 'metrics' ? numbersOnly(value) : safeScalar(value);
  }
  return picked;
}

function safeScalar(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return redactText(value, MAX_TEXT_LENGTH);
  if (Array.isArray(value)) return value.slice(0, MAX_LIST_LENGTH).map(safeScalar);
  // All fields but `metrics` are scalars or lists of them; anything else is a mistake of the publisher and is not shown.
  return `[${typeof value}]`;
}

function numbersOnly(value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => typeof entry === 'number'));
}
