/** The process's environment: the only place of this package that reads it. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
