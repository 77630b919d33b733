import { fileURLToPath } from 'node:url';

/** Where the examples are. */
export const sources = fileURLToPath(new URL('../src', import.meta.url));

/** Where their bundles are, which the tests run. */
export const bundles = fileURLToPath(new URL('../temp', import.meta.url));

/** The environment without anything that names a service or changes how a program starts or prints. */
export function plainEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([key]) => !/^(TINKER_|TINKEX_|NODE_OPTIONS|NO_COLOR|FORCE_COLOR|VITEST)/.test(key));
  return Object.fromEntries(kept) as Record<string, string>;
}
