/** Gate: what would be published is well formed (publint) and its types resolve as they should (are-the-types-wrong, ESM-only profile). */
import { command } from './command.js';
import { inParallel } from './in-parallel.js';
import { packAll } from './pack.js';
import { verdict } from './verdict.js';

const CHECKS: readonly (readonly [string, readonly string[]])[] = [
  ['publint', ['run', '--strict']],
  ['attw', ['--profile', 'esm-only', '--format', 'ascii', '--no-emoji', '--no-color']],
];

const packed = await packAll();
const runs = [...packed].flatMap(([{ id }, tarball]) => CHECKS.map(([tool, args]) => ({ id, tool, args: [...args, tarball] })));
const problems = await inParallel(runs, async ({ id, tool, args }) => {
  const { code, output } = await command(tool, args);
  return code === 0 ? [] : [`${tool} on ${id}:\n${output.trim()}`];
});
verdict('check:packages', `${packed.size} packages, ${CHECKS.map(([tool]) => tool).join(' and ')}`, problems.flat());
