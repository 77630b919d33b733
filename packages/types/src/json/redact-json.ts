import { REDACTED, SECRET_KEY } from '../redaction/known-secrets.js';
import { redactText } from '../redaction/redact-text.js';
import type { JsonObject, JsonValue } from './json-value.js';

/**
 * A whole JSON value without credentials: texts of fields that are secret by name are hidden, and whatever looks like a secret inside other
 * texts. Unlike `redactValue` it cuts nothing off: every number, list and text stays complete. A value without secrets is returned as it is.
 */
export function redactJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (value.every((entry) => typeof entry === 'number')) return value;
    const entries = value.map(redactJson);
    return entries.every((entry, index) => entry === value[index]) ? value : entries;
  }
  const fields = Object.entries(value as JsonObject).map(([key, entry]): [string, JsonValue | undefined] => [
    key,
    typeof entry === 'string' && SECRET_KEY.test(key) ? REDACTED : entry === undefined ? entry : redactJson(entry),
  ]);
  return fields.every(([key, entry]) => entry === (value as JsonObject)[key]) ? value : Object.fromEntries(fields);
}
