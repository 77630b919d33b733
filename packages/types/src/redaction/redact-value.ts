import { REDACTED, rememberSecret, SECRET_KEY } from './known-secrets.js';
import { redactText } from './redact-text.js';

/** Headers that are safe to keep on errors, in events and in recordings. */
const SAFE = new Set([
  'accept',
  'accept-encoding',
  'allow',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'expires',
  'host',
  'idempotency-key',
  'range',
  'retry-after',
  'retry-after-ms',
  'server',
  'traceparent',
  'transfer-encoding',
  'user-agent',
  'vary',
  'x-idempotency-key',
  'x-request-id',
  'x-should-retry',
  'x-stainless-async',
  'x-stainless-arch',
  'x-stainless-os',
  'x-stainless-package-version',
  'x-stainless-raw-response',
  'x-stainless-read-timeout',
  'x-stainless-retry-count',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-tinker-create-promise-roundtrip-time',
  'x-tinker-request-iteration',
  'x-tinker-request-type',
  'x-tinker-sampling-backpressure',
]);

/**
 * A copy with lower-case names in which only well-known harmless headers keep their values, without any credential in them. Use it for everything that is logged or
 * recorded.
 */
export function redactHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const shown: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const lower = name.toLowerCase();
    shown.push([lower, SAFE.has(lower) ? redactText(headerText(value)) : REDACTED]);
  }
  return Object.fromEntries(shown);
}

/**
 * Remembers the headers that this process sends, so that a server that echoes them cannot show them. Of headers that belong to one call, only
 * those whose name says that they are secret: there may be a new trace ID each time.
 */
export function rememberHeaders(headers: Readonly<Record<string, string | undefined>>, areOfClient: boolean): void {
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || SAFE.has(name.toLowerCase())) continue;
    if (areOfClient || SECRET_KEY.test(name)) rememberSecret(name, value);
  }
}

function headerText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.join(', ') : REDACTED;
}

/** A plain JSON value. */
export type PlainValue = null | boolean | number | string | PlainValue[] | { [key: string]: PlainValue };

const HEADER_MAP = /headers$/i;

const MAX_DEPTH = 6;
const MAX_ENTRIES = 100;
const MAX_TEXT_LENGTH = 4_000;

/**
 * A copy of any value that is safe to send away: credentials removed (by the name of the field, by an allow-list inside header maps, by
 * shape inside texts), bounded in depth, entries and text length, and always serializable as JSON.
 */
export function redactValue(value: unknown): PlainValue {
  return copy(value, 0);
}

function copy(value: unknown, depth: number): PlainValue {
  switch (typeof value) {
    case 'string':
      return redactText(value, MAX_TEXT_LENGTH);
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
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return redactText(`${value.name}: ${value.message}`, MAX_TEXT_LENGTH);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((entry) => copy(entry, depth + 1));
  const copied: { [key: string]: PlainValue } = {};
  for (const [key, entry] of Object.entries(value).slice(0, MAX_ENTRIES)) {
    if (entry === undefined) continue;
    if (SECRET_KEY.test(key) && entry !== null && typeof entry !== 'number') copied[key] = REDACTED;
    else if (HEADER_MAP.test(key) && isRecord(entry)) copied[key] = copy(redactHeaders(entry), depth + 1);
    else copied[key] = copy(entry, depth + 1);
  }
  return copied;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
