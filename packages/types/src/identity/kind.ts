/** Lets two copies of this package, in one process, recognise each other's objects. */
const KINDS = Symbol.for('tinkex.kinds');

/** Marks a class (and so its subclasses) as one kind of object. */
export function markKind(markedClass: { readonly prototype: object }, kind: string): void {
  const inherited = (Object.getPrototypeOf(markedClass.prototype) as { [KINDS]?: readonly string[] } | null)?.[KINDS] ?? [];
  Object.defineProperty(markedClass.prototype, KINDS, { value: [...inherited, kind] });
}

/** Whether a value is of a kind, whichever copy of this package made it. */
export function hasKind(value: unknown, kind: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const kinds = (value as { [KINDS]?: unknown })[KINDS];
  return Array.isArray(kinds) && kinds.includes(kind);
}
