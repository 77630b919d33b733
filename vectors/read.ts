import { readFileSync } from 'node:fs';

/** One case of a vector file: what goes in, and what the protocol says comes out. */
export interface VectorCase<Input, Expected> {
  readonly name: string;
  readonly input: Input;
  readonly expected: Expected;
  readonly message?: string;
}

/** The cases of `vectors/protocol/<file>.json`. All packages read the protocol's vectors through this function. */
export function readVectors<Input, Expected>(file: string): VectorCase<Input, Expected>[] {
  const text = readFileSync(new URL(`./protocol/${file}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: VectorCase<Input, Expected>[] }).cases;
}
