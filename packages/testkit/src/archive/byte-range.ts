/** A part of a resource; `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a `Range` header with one range. Undefined: there is none, or not one to obey. `unsatisfiable`: it lies outside.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (parts === null || (parts[1] === '' && parts[2] === '')) return undefined;
  const [, first = '', last = ''] = parts;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start >= size || end <= start ? 'unsatisfiable' : { start, end };
}
