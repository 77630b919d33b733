import { readFileSync } from 'node:fs';

export interface VectorCase<Input, Expected> {
  readonly name: string;
  readonly input: Input;
  readonly expected: Expected;
}

/** Reads one file of the protocol's vectors. */
export function readVectors<Input, Expected>(file: string): VectorCase<Input, Expected>[] {
  const text = readFileSync(new URL(`../vectors/${file}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: VectorCase<Input, Expected>[] }).cases;
}
