import { redactHeaders } from '@tinkex/http';
import { redactText } from './redact-text.js';

/** A plain JSON value. */
export type PlainValue = null | boolean | number | string | PlainValue[] | { [key: string]: PlainValue };

const secretKey = /(key|secret|token|password|authorization|cookie|signature|credential)s?$/i;
const headerMap = /headers$/i;

const maxDepth = 6;
const maxEntries = 100;
const maxTextLength = 4_000;

/**
 * A copy of any value that is safe to send away: credentials removed (by the name of the field, by an allow-list inside header maps,
 * by shape inside texts), bounded in depth, entries and text length, and always serialisable as JSON.
 */
export function redactValue(value: unknown): PlainValue {
  return copy(value, 0);
}

function copy(value: unknown, depth: number): PlainValue {
  switch (typeof value) {
    case 'string':
      return redactText(value, maxTextLength);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'bigint':
      return value.toString();
    case 'object':
      return value === null ? null : copyObject(value, depth);
    default:
      return null;
  }
}

function copyObject(value: object, depth: number): PlainValue {
  if (depth >= maxDepth) return '[too deep]';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return redactText(`${value.name}: ${value.message}`, maxTextLength);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, maxEntries).map((entry) => copy(entry, depth + 1));
  const copied: { [key: string]: PlainValue } = {};
  for (const [key, entry] of Object.entries(value).slice(0, maxEntries)) {
    if (entry === undefined) continue;
    if (secretKey.test(key) && entry !== null && typeof entry !== 'number') copied[key] = '[redacted]';
    else if (headerMap.test(key) && isRecord(entry)) copied[key] = copy(redactHeaders(headerTexts(entry)), depth + 1);
    else copied[key] = copy(entry, depth + 1);
  }
  return copied;
}

function headerTexts(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : '[redacted]']));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
