import { isPlainObject } from './plain-object.js';
import { compareCodePoints } from './python-text.js';

/**
 * A JSON value as Python reads it. Integers are bigints and floats are numbers, because `1` and `1.0` are written differently; objects are maps, because
 * a JavaScript object moves keys that look like integers to the front.
 */
export type PythonValue = null | boolean | string | bigint | number | readonly PythonValue[] | PythonDict;

/** A JSON object with its keys in order. */
export type PythonDict = ReadonlyMap<string, PythonValue>;

/** How {@link dumpJson} writes. */
export interface DumpOptions {
  /** Write non-ASCII characters as they are (`ensure_ascii=False`). Default: `\uXXXX`. */
  readonly raw?: boolean | undefined;
  /** No space after commas and colons. */
  readonly compact?: boolean | undefined;
  /** Keys in the order of their code points: `all`, or those of the outermost object only. Default: as they came. */
  readonly sortKeys?: 'all' | 'outermost' | undefined;
  /** How floats are written. Default: Python's `repr`. */
  readonly writeFloat?: ((value: number) => string) | undefined;
}

export function isDict(value: PythonValue): value is PythonDict {
  return value instanceof Map;
}

/** Python's `json.dumps`. */
export function dumpJson(value: PythonValue, options: DumpOptions = {}): string {
  const { raw, compact, sortKeys, writeFloat = reprFloat } = options;
  if (typeof value === 'string') return dumpString(value, raw === true);
  if (typeof value === 'number') return Number.isFinite(value) ? writeFloat(value) : nonFinite(value, 'NaN', 'Infinity');
  if (value === null || typeof value !== 'object') return String(value);
  const inner = sortKeys === 'outermost' ? { ...options, sortKeys: undefined } : options;
  const comma = compact === true ? ',' : ', ';
  if (!isDict(value)) return `[${value.map((item) => dumpJson(item, inner)).join(comma)}]`;
  const entries = [...value];
  if (sortKeys !== undefined) entries.sort(([left], [right]) => compareCodePoints(left, right));
  const colon = compact === true ? ':' : ': ';
  return `{${entries.map(([key, item]) => `${dumpString(key, raw === true)}${colon}${dumpJson(item, inner)}`).join(comma)}}`;
}

/** Python's `str()` of a scalar: `True`, `None`, `1.0`, text as it is. */
export function pythonStr(value: PythonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return Number.isFinite(value) ? reprFloat(value) : nonFinite(value, 'nan', 'inf');
  if (typeof value === 'string' || typeof value === 'bigint') return String(value);
  return pythonRepr(value);
}

/** Python's `repr()`: as `str()`, with quotes around text. */
function pythonRepr(value: PythonValue): string {
  if (typeof value === 'string') return value.includes("'") && !value.includes('"') ? `"${value}"` : `'${value.replaceAll("'", "\\'")}'`;
  if (value === null || typeof value !== 'object') return pythonStr(value);
  if (!isDict(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  return `{${[...value].map(([key, item]) => `${pythonRepr(key)}: ${pythonRepr(item)}`).join(', ')}}`;
}

/** A float as Python writes it: shortest digits, decimal notation for exponents from -4 to 15, at least one decimal place. */
export function reprFloat(value: number): string {
  return formatFloat(value, -4, (exponent) => `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`);
}

/** A float as Rust's serde writes it: as Python's, but decimal notation from 1e-5 and a bare exponent. */
export function serdeFloat(value: number): string {
  return formatFloat(value, -5, String);
}

function formatFloat(value: number, minDecimal: number, writeExponent: (exponent: number) => string): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const [mantissa = '0', exponentText = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const exponent = Number(exponentText);
  if (exponent < minDecimal || exponent >= 16) return `${sign}${mantissa}e${writeExponent(exponent)}`;
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

function nonFinite(value: number, nan: string, infinity: string): string {
  if (Number.isNaN(value)) return nan;
  return value > 0 ? infinity : `-${infinity}`;
}

function dumpString(text: string, isRaw: boolean): string {
  const quoted = JSON.stringify(text);
  // JSON.stringify escapes lone surrogates in either case.
  return isRaw ? quoted : quoted.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A JavaScript value, such as a tool's schema, as Python would hold it. Whole numbers become integers; undefined fields are left out. */
export function toPython(value: unknown): PythonValue {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (Array.isArray(value)) return value.map(toPython);
  if (value instanceof Map) return value as PythonDict;
  if (!isPlainObject(value)) return String(value);
  return new Map(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, toPython(item)]),
  );
}

/** The value as plain JavaScript. Integers beyond 2^53 stay bigints. */
export function fromPython(value: PythonValue): unknown {
  if (typeof value === 'bigint') return BigInt.asIntN(54, value) === value ? Number(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (!isDict(value)) return value.map(fromPython);
  return Object.fromEntries([...value].map(([key, item]) => [key, fromPython(item)]));
}
