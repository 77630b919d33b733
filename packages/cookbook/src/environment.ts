/** The settings from the environment. Empty values count as unset. */
export interface CookbookEnvironment {
  /** `HF_TOKEN`: a token of the hub of models. */
  readonly hubToken: string | undefined;
}

/** Reads the variables. No other file of this package reads the environment. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>> = process.env): CookbookEnvironment {
  return { hubToken: variables['HF_TOKEN'] || undefined };
}
