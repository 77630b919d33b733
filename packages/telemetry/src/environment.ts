/** The value of an environment variable, in runtimes that have them. */
export function readEnvironment(name: 'NO_COLOR' | 'OTEL_SEMCONV_STABILITY_OPT_IN'): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env[name];
}
