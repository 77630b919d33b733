type Undici = typeof import('undici');

let loading: Promise<Undici | undefined> | undefined;

/**
 * Loads undici with the first request. Resolves to `undefined` where there is no real one: Bun has a stub of that name, builds for browsers and workers
 * leave it out (`imports` in package.json), and some bundles cannot load it.
 */
export function loadUndici(): Promise<Undici | undefined> {
  loading ??= import('#undici').then(realOne, () => undefined);
  return loading;
}

/** The library, if it can do what the transport needs. */
export function realOne(library: Partial<Undici>): Undici | undefined {
  return typeof library.Pool?.prototype?.dispatch === 'function' ? (library as Undici) : undefined;
}
