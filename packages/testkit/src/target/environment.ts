/** Where the environment says that tests run. The only place that reads it. */
export interface TargetEnvironment {
  readonly target: string | undefined;
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly baseModel: string | undefined;
}

/** Reads `TINKEX_TEST_TARGET`, `TINKEX_TEST_BASE_URL`, `TINKEX_TEST_API_KEY`, `TINKEX_TEST_BASE_MODEL`; empty counts as unset. */
export function targetEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): TargetEnvironment {
  return {
    target: env['TINKEX_TEST_TARGET'] || undefined,
    baseUrl: env['TINKEX_TEST_BASE_URL'] || undefined,
    apiKey: env['TINKEX_TEST_API_KEY'] || undefined,
    baseModel: env['TINKEX_TEST_BASE_MODEL'] || undefined,
  };
}
