/** Lets two copies of this package in one process recognize each other's objects. */
const KINDS = Symbol.for('tinkex.kinds');

/** Marks a class as one kind of object. */
export function markKind(markedClass: { readonly prototype: object }, kind: string): void {
  Object.defineProperty(markedClass.prototype, KINDS, { value: [kind] });
}

/** Lets the objects of a class and its subclasses be recognized by the static `kind` of each class. */
export function defineKinds(rootClass: { readonly prototype: object; readonly kind: string }): void {
  Object.defineProperty(rootClass.prototype, KINDS, {
    get(this: object): readonly string[] {
      const kinds: string[] = [];
      let type = this.constructor as { readonly kind?: unknown };
      for (; typeof type.kind === 'string'; type = Object.getPrototypeOf(type) as typeof type) kinds.push(type.kind);
      return kinds;
    },
  });
}

/** Whether a value is of a kind, whichever copy of this package made it. */
export function hasKind(value: unknown, kind: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const kinds = (value as { [KINDS]?: unknown })[KINDS];
  return Array.isArray(kinds) && kinds.includes(kind);
}

/** A check for a kind, as a static of its class. It needs no `this`, so that it can be passed on. */
export function checkKind<T>(kind: string): (value: unknown) => value is T {
  return (value): value is T => hasKind(value, kind);
}
