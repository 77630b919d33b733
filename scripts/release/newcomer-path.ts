import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fencedBlocks } from '../docs/markdown.js';
import { root } from '../packages.mjs';

/** What a newcomer types according to the page, in its order, and the program they save. */
export interface NewcomerPath {
  /** Clone, start, test. */
  readonly repository: readonly string[];
  /** A configuration, a run, a conversation. */
  readonly commandLine: readonly string[];
  /** A project that uses the packages. */
  readonly project: readonly string[];
  readonly program: string;
}

const PAGE = 'docs/guides/getting-started.md';

/** Reads the newcomer's path out of the page itself, so that what is proven is what is written there. */
export function newcomerPath(markdown = readFileSync(join(root, PAGE), 'utf8')): NewcomerPath {
  const blocks = fencedBlocks(markdown);
  const shell = blocks.filter(({ info }) => info[0] === 'sh').map(({ code }) => commandsOf(code));
  const having = (word: string): readonly string[] => {
    const found = shell.find((commands) => commands.some((line) => line.includes(word)));
    if (found === undefined) throw new Error(`${PAGE} has no block of commands with "${word}".`);
    return found;
  };
  const program = blocks.find(({ info }) => info[0] === 'ts')?.code;
  if (program === undefined) throw new Error(`${PAGE} has no program.`);
  return {
    repository: having('git clone'),
    commandLine: having('tinkex init'),
    project: [...having('npm install'), ...having('first.mts')],
    program,
  };
}

/** The commands of a block, without their comments. */
function commandsOf(code: string): string[] {
  return code
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '');
}
