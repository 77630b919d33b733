/**
 * Prints how many files and functions of each package one warm call executes in the client's process. `--files` lists the files. No gate: the
 * numbers are for reviewers.
 */
import { publishedPackages } from '../packages.mjs';
import { startCalls } from './calls.js';
import { executedFiles } from './executed-files.js';

const WARM_UPS = 3;
const columns = publishedPackages()
  .map(({ name }) => name)
  .filter((name) => name !== 'testkit')
  .reverse();
const { calls, close } = await startCalls();
const rows: (string | number)[][] = [];
for (const { name, before, run } of calls) {
  for (let round = 0; round < WARM_UPS; round += 1) {
    await before?.();
    await run();
  }
  await before?.();
  const executed = await executedFiles(async () => run());
  const within = (column: string) => executed.filter(({ file }) => file.startsWith(`packages/${column}/`));
  const counted = columns.flatMap(within);
  const functions = counted.reduce((sum, one) => sum + one.functions, 0);
  rows.push([name, ...columns.map((column) => within(column).length || ''), counted.length, functions]);
  if (process.argv.includes('--files')) console.log(`${name}\n${counted.map(({ file }) => `  ${file}`).join('\n')}\n`);
}
await close();
const used = columns.map((_, index) => rows.some((row) => row[index + 1] !== ''));
const keep = <T>(cells: readonly T[]): T[] => cells.filter((_, index) => used[index - 1] ?? true);
const table = [['call', ...columns, 'files', 'functions'], ['---', ...columns.map(() => '---'), '---', '---'], ...rows];
for (const cells of table) console.log(`| ${keep(cells).join(' | ')} |`);
