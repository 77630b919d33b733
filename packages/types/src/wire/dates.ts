import { expected } from '../errors/issue-text.js';
import { type Schema, textThat } from './schema.js';
import type { WireType } from './wire-type.js';

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)?$/;
/** A Unix number above this is milliseconds: as seconds it would be in the year 2603. */
const SECONDS_LIMIT = 2e10;

/** A moment. Written as ISO 8601 in UTC; read as ISO 8601 with or without a zone (then UTC), or as a Unix number. */
export function date(): WireType<Date> {
  const schema: Schema = (wire, issues) => {
    const value = readDate(wire);
    if (value === undefined) issues.push({ path: [], message: expected('an ISO 8601 date and time or a Unix number')({ input: wire }) });
    return value;
  };
  return {
    schema: () => schema,
    toWire: (value) => (value instanceof Date && !Number.isNaN(value.getTime()) ? formatDate(value) : value),
    fromWire: (wire) => wire as Date,
  };
}

/** A moment the caller gives as a `Date` or as ISO 8601 text; text keeps its zone, with UTC written as `Z`. */
export function dateOrText(): WireType<Date | string> {
  const isDate = textThat((wire) => readDate(wire) !== undefined, expected('ISO 8601 text such as 2026-07-13T00:00:00Z'));
  const isText = textThat(() => true, expected('a Date or ISO 8601 text'));
  const schema: Schema = (wire, issues) => (typeof wire === 'string' ? isDate : isText)(wire, issues);
  return {
    schema: () => schema,
    toWire(value) {
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : formatDate(value);
      return typeof value === 'string' ? value.replace(/(?:[+-]00:?00|z)$/, 'Z') : value;
    },
    fromWire: (wire) => wire as string,
  };
}

/** A moment as ISO 8601 text with a zone, kept as it is: a `Date` would lose what is below a millisecond. */
export function zonedDateText(): WireType<string> {
  const error = expected('ISO 8601 text with a zone, such as 2026-07-13T00:00:00Z');
  const hasZone = (wire: string) => ISO.exec(wire.trim())?.[8] !== undefined && readDate(wire) !== undefined;
  const schema = textThat(hasZone, error);
  return { schema: () => schema, toWire: (value) => value, fromWire: (wire) => wire as string };
}

/** `2026-08-08T03:35:23Z`, with milliseconds only where there are some. */
export function formatDate(value: Date): string {
  return value.toISOString().replace('.000Z', 'Z');
}

/** The moment that a text or number of the wire means, or undefined when it means none. */
export function readDate(wire: unknown): Date | undefined {
  if (typeof wire === 'number') return valid(Math.abs(wire) > SECONDS_LIMIT ? wire : wire * 1000);
  if (typeof wire !== 'string') return undefined;
  const parts = ISO.exec(wire.trim());
  if (parts === null) return /^[+-]?\d+(?:\.\d+)?$/.test(wire.trim()) ? readDate(Number(wire)) : undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = parts;
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  const fields = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const;
  const moment = new Date(0);
  moment.setUTCFullYear(fields[0], fields[1], fields[2]);
  moment.setUTCHours(fields[3], fields[4], fields[5], milliseconds);
  // A month 13 or a 30th of February would roll over into another date instead of being refused.
  if (moment.getUTCMonth() !== fields[1] || moment.getUTCDate() !== fields[2] || moment.getUTCHours() !== fields[3]) return undefined;
  if (moment.getUTCMinutes() !== fields[4] || moment.getUTCSeconds() !== fields[5]) return undefined;
  return valid(moment.getTime() - zoneOffset(zone));
}

function zoneOffset(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0;
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

function valid(milliseconds: number): Date | undefined {
  const moment = new Date(milliseconds);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
