/**
 * Shows that the tests notice: breaks one invariant after the other in a copy of the sources and requires that a test fails each time.
 *
 *   pnpm mutation              all
 *   pnpm mutation tar jitter   those whose name contains one of the words
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../gates/command.js';
import { verdict } from '../gates/verdict.js';
import { workCopy } from '../gates/work-copy.js';
import { type Mutation, mutations } from './mutations.js';

const words = process.argv.slice(2);
const chosen = mutations.filter(({ invariant }) => words.length === 0 || words.some((word) => invariant.includes(word)));
const problems: string[] = chosen.length === 0 ? [`no invariant is called ${words.join(' or ')}`] : [];
const copy = await workCopy();
for (const mutation of chosen) {
  const problem = await check(copy, mutation);
  console.log(`${problem === undefined ? 'noticed' : 'NOT NOTICED'}: ${mutation.invariant}`);
  if (problem !== undefined) problems.push(`${mutation.invariant}: ${problem}`);
}
verdict('mutation', `${chosen.length} broken invariants`, problems);

async function check(folder: string, mutation: Mutation): Promise<string | undefined> {
  const file = join(folder, mutation.file);
  const original = await readFile(file, 'utf8');
  const occurrences = original.split(mutation.find).length - 1;
  if (occurrences !== 1) return `the text to break occurs ${occurrences} times in ${mutation.file}; the list must follow the source`;
  const sound = await failedTests(folder, mutation);
  if (typeof sound === 'string') return sound;
  if (sound > 0) return `${sound} tests fail before anything is broken`;
  await writeFile(
    file,
    original.replace(mutation.find, () => mutation.replace),
  );
  try {
    const failed = await failedTests(folder, mutation);
    if (typeof failed === 'string') return failed;
    return failed === 0 ? `all tests pass (${mutation.tests.join(', ')})` : undefined;
  } finally {
    await writeFile(file, original);
  }
}

/** How many tests fail, or why that cannot be said. A file that does not even load proves nothing about its tests. */
async function failedTests(folder: string, { package: name, tests }: Mutation): Promise<number | string> {
  const cwd = join(folder, 'packages', name);
  const report = join(cwd, '.vitest', 'results.json');
  await rm(report, { force: true });
  const { output } = await command('vitest', ['run', ...tests], { cwd, timeoutMs: 240_000 });
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return `the tests did not report\n${output.slice(-2_000)}`;
  const { numTotalTests, numFailedTests } = JSON.parse(text) as { numTotalTests: number; numFailedTests: number };
  return numTotalTests === 0 ? `no test ran\n${output.slice(-2_000)}` : numFailedTests;
}
