/** Where the environment says that tests run. No other file of this package reads it. */
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

/** The server that several tests share, if the environment names one. */
export interface SharedServerEnvironment {
  readonly url: string | undefined;
  readonly token: string | undefined;
}

/** Reads `TINKEX_TESTKIT_URL` and `TINKEX_TESTKIT_TOKEN`, as `serve --control` prints them; empty counts as unset. */
export function sharedServerEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): SharedServerEnvironment {
  return { url: env['TINKEX_TESTKIT_URL'] || undefined, token: env['TINKEX_TESTKIT_TOKEN'] || undefined };
}
