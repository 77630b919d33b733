import { InvalidArgumentError } from 'commander';

/** A whole number from 0 up. */
export function countOf(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  return Number(text);
}

/** A whole number from 1 up. */
export function positiveCountOf(text: string): number {
  const count = countOf(text);
  if (count === 0) throw new InvalidArgumentError('It must be a whole number, 1 or more.');
  return count;
}

/** Collects the values of an option that may be repeated. */
export function repeated(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

const ISO_DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?$/i;

/** An ISO 8601 date or time. Without a zone it is in UTC. */
export function dateOf(text: string): Date {
  const trimmed = text.trim();
  const zone = ISO_DATE.exec(trimmed)?.[1];
  const complete = trimmed.length === 10 || zone !== undefined ? trimmed : `${trimmed}Z`;
  const date = new Date(complete);
  if (!ISO_DATE.test(trimmed) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('It must be a date such as 2026-01-15 or 2026-01-15T12:00:00Z.');
  }
  return date;
}

const CHECKPOINT_TYPES: Readonly<Record<string, string>> = {
  weights: 'training',
  training: 'training',
  sampler_weights: 'sampler',
  sampler: 'sampler',
  external_weights: 'external',
  external: 'external',
};

/** A kind of checkpoint, by its name or by the name in paths. */
export function checkpointTypeOf(text: string): string {
  const type = Object.hasOwn(CHECKPOINT_TYPES, text) ? CHECKPOINT_TYPES[text] : undefined;
  if (type === undefined) throw new InvalidArgumentError(`It must be one of ${Object.keys(CHECKPOINT_TYPES).join(', ')}.`);
  return type;
}
/** A number. */
export function numberOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

/** A TCP port. */
export function portOf(text: string): number {
  const port = countOf(text);
  if (port > 65_535) throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
  return port;
}
