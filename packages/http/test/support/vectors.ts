import { readFileSync } from 'node:fs';

interface VectorCase<Input, Expected> {
  readonly name: string;
  readonly input: Input;
  readonly expected: Expected;
}

/** The cases of one file of shared test vectors. */
export function vectors<Input, Expected>(file: string): readonly VectorCase<Input, Expected>[] {
  const text = readFileSync(new URL(`../vectors/${file}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: VectorCase<Input, Expected>[] }).cases;
}
