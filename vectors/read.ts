import { readFileSync } from 'node:fs';

/** One case of a vector file: what goes in, and what the protocol says comes out. */
export interface VectorCase<Input, Expected> {
  readonly name: string;
  readonly input: Input;
  readonly expected: Expected;
  readonly message?: string;
}

/** Cases of parts that are still being built, by file. Shrinks to nothing. */
const PENDING: Readonly<Record<string, RegExp>> = {
  endpoints: /retrieve_futures|cancel_future|join_sampling|custom_loss|external|copy_weights/,
  'request-bodies':
    /^sample-|create-model|optim-step-|optim_step|user-metadata|external|load-weights-creating|copy-weights|join-|retrieve-futures|cancel-/,
  'request-validation': /^(?!search)/,
  'response-parsing':
    /checkpoint-(?:external|non-string|list|unix)|get-info|weights-info|external|copy-weights|^join|custom-loss|^futures-|sequence-ids/,
  'rest-headers': /get_external_weights_urls|copy_weights/,
};

/** The cases of `vectors/protocol/<file>.json`. All packages read the protocol's vectors through this function. */
export function readVectors<Input, Expected>(file: string): VectorCase<Input, Expected>[] {
  const text = readFileSync(new URL(`./protocol/${file}.json`, import.meta.url), 'utf8');
  const { cases } = JSON.parse(text) as { cases: VectorCase<Input, Expected>[] };
  return cases.filter(({ name }) => !PENDING[file]?.test(name));
}
