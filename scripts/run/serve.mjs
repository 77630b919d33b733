import { join } from 'node:path';
import { run } from './spawn.mjs';

/**
 * Runs the `serve` command of the testkit from its sources: nothing has to be built.
 * @param {string[]} args the options of the command
 */
export function serve(args) {
  const file = join('packages', 'testkit', 'src', 'cli', 'main.ts');
  return run(process.execPath, ['--conditions=@tinkex/source', '--import', 'tsx', file, 'serve', ...args]);
}
