import type { Json } from './run-json.js';

/**
 * A configuration as `config.json` shows it: plain data as it is; functions as `{}`; objects of a class by their public fields, or by the class's name if they
 * have none. Names that start with an underscore are left out.
 */
export function describeConfig(value: unknown): Json {
  return describe(value, []);
}

function describe(value: unknown, parents: readonly unknown[]): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object') return {};
  if (parents.includes(value)) return '<circular>';
  const path = [...parents, value];
  if (Array.isArray(value)) return value.map((item) => describe(item, path));
  if (value instanceof Map) return describe(Object.fromEntries(value), parents);
  const fields = Object.entries(value).filter(([name, field]) => !name.startsWith('_') && field !== undefined);
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  if (fields.length === 0 && !isPlain) return `<class '${value.constructor.name}'>`;
  return Object.fromEntries(fields.map(([name, field]) => [name, describe(field, path)]));
}
