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
  return readCases(`./protocol/${file}.json`);
}

/** The cases of `vectors/cookbook/<file>.json`, which running the Python reference's training loops gave. Their fields differ from file to file. */
export function readCookbookVectors<Case>(file: string): Case[] {
  return readCases(`./cookbook/${file}.json`);
}

function readCases<Case>(path: string): Case[] {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: Case[] }).cases;
}
