/** The property by which Node, Deno and Bun let an object say how `console.log` shows it. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** How the runtime formats a value, as it passes it to an object that formats itself. */
type Inspect = (value: unknown, options: object) => string;

/**
 * Makes `console.log` show the objects of a class as its name and the fields that `describe` gives: what distinguishes one object from another, without the parts
 * it works with. Fields that are undefined are left out.
 */
export function showAs<T extends object>(
  shownClass: { readonly prototype: T; readonly name: string },
  describe: (object: T) => object,
): void {
  const show = function (this: T, _depth: number, options: object, inspect: Inspect): string {
    const known = Object.entries(describe(this)).filter(([, value]) => value !== undefined);
    return `${shownClass.name} ${inspect(Object.fromEntries(known), options)}`;
  };
  Object.defineProperty(shownClass.prototype, INSPECT, { value: show, configurable: true });
}
