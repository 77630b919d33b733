import type { JsonObject } from '../json/json-value.js';

const UNKNOWN = new WeakMap<object, JsonObject>();
const NONE: JsonObject = Object.freeze({});

/** Keeps what an object of the server had besides its known fields. */
export function rememberUnknown(value: object, fields: JsonObject): void {
  if (fields !== NONE) UNKNOWN.set(value, fields);
}

/**
 * The fields of a decoded response object that this version of the package does not know, as they stood on the wire. Empty when
 * there were none. Only for the very object that was decoded, not for copies of it.
 */
export function unknownFields(value: object): JsonObject {
  return UNKNOWN.get(value) ?? NONE;
}
