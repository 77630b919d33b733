import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../packages.mjs';
import { nearestName } from './nearest-name.mjs';
import { run } from './spawn.mjs';

const FOLDER = join(root, 'apps', 'examples', 'src');
const DEFAULT = 'quickstart';

/** Prints each example with the first line of its opening comment. */
export function listExamples() {
  for (const name of exampleNames()) console.log(`${name.padEnd(24)} ${firstDocLine(name)}`);
  return 0;
}

/**
 * Runs `apps/examples/src/<name>.ts` from the sources of all packages: nothing has to be built.
 * @param {string[]} args an optional name, then the example's own arguments
 */
export async function startExample(args) {
  const [first = '-'] = args;
  const isNamed = !first.startsWith('-');
  const name = isNamed ? first : DEFAULT;
  if (!exampleNames().includes(name)) {
    const meant = nearestName(name, exampleNames());
    const hint = meant === undefined ? '' : ` Did you mean '${meant}'?`;
    console.error(`tinkex: there is no example '${name}'.${hint}\nThe examples are: ${exampleNames().join(', ')}`);
    return 2;
  }
  console.log(`tinkex: running the example ${name} (apps/examples/src/${name}.ts)`);
  if (args.includes('--inspect')) {
    const code = await run(process.execPath, [join('scripts', 'build', 'bundle-page.mjs')]);
    if (code !== 0) return code;
  }
  const file = join('apps', 'examples', 'src', `${name}.ts`);
  return run(process.execPath, ['--conditions=@tinkex/source', '--import', 'tsx', file, ...(isNamed ? args.slice(1) : args)]);
}

function exampleNames() {
  if (!existsSync(FOLDER)) return [];
  return readdirSync(FOLDER)
    .filter((file) => /^[a-z0-9-]+\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();
}

/** @param {string} name */
function firstDocLine(name) {
  const source = readFileSync(join(FOLDER, `${name}.ts`), 'utf8');
  const comment = /^(?:#!.*\n)?\s*(?:\/\*\*?\s*\**\s*([^\n]*?)\s*(?:\*\/|\n)|\/\/\s*([^\n]*))/.exec(source);
  return comment?.[1] ?? comment?.[2] ?? '';
}
