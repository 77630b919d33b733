/** What is given, over defaults. What is undefined is not given. */
export function withDefaults<D extends object, T extends object>(defaults: D, given: T): D & T {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) } as D & T;
}
