import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root, workspacePackages } from '../packages.mjs';
import { readReport, summarize } from './report.mjs';
import { run } from './spawn.mjs';

/** The repository's own scripts are tested too; their task hangs on the workspace root. */
const TOOLING = { name: 'tooling', dir: join(root, 'scripts'), task: '//#test:tooling' };

/** Where turbo writes how each task ended. */
const RUNS = join(root, '.turbo', 'runs');

/**
 * Runs the tests of all packages (or of those named first in `args`) through turbo and sums up what vitest wrote.
 * @param {string[]} args package names, then options for vitest
 */
export async function runTests(args) {
  const suites = [
    ...workspacePackages()
      .filter(({ manifest }) => manifest.scripts?.test !== undefined)
      .map(({ name, dir, manifest }) => ({ name, dir, task: `${manifest.name}#test` })),
    TOOLING,
  ];
  const known = new Set(suites.map(({ name }) => name));
  const firstOption = [...args, ''].findIndex((argument) => !known.has(argument));
  const names = args.slice(0, firstOption);
  const vitestArgs = args.slice(firstOption);
  const selected = names.length === 0 ? suites : suites.filter(({ name }) => names.includes(name));

  // Results of an earlier run must not be counted when a suite dies before it writes its own.
  for (const { dir } of selected) rmSync(join(dir, '.vitest'), { recursive: true, force: true });
  rmSync(RUNS, { recursive: true, force: true });

  const isForced = process.env.TINKEX_TEST_FORCE === '1';
  console.log(`tinkex: testing ${selected.map(({ name }) => name).join(', ')} on Node ${process.versions.node}`);
  const turboArgs = [
    'run',
    ...selected.map(({ task }) => task),
    '--continue=always',
    '--log-order=grouped',
    '--summarize',
    `--concurrency=${Math.max(2, availableParallelism())}`,
    ...(isForced ? ['--force'] : []),
  ];
  // A filter for one package may match nothing in another; that is fine as long as something ran.
  const forwarded = vitestArgs.length === 0 ? [] : ['--', ...vitestArgs, '--passWithNoTests'];
  const code = await run(join(root, 'node_modules', '.bin', 'turbo'), [...turboArgs, ...forwarded]);

  const exitCodes = exitCodesOfTasks();
  const reports = selected.map(({ name, dir, task }) =>
    readReport(name, join(dir, '.vitest', 'results.json'), { mayBeEmpty: vitestArgs.length > 0, exitCode: exitCodes.get(task) }),
  );
  const { lines, failed } = summarize(reports, code);
  console.log(`\n${lines.join('\n')}`);
  return failed === 0 ? 0 : 1;
}

/** @returns {Map<string, number>} */
function exitCodesOfTasks() {
  const summaries = existsSync(RUNS) ? readdirSync(RUNS).filter((file) => file.endsWith('.json')) : [];
  const tasks = summaries.flatMap((file) => JSON.parse(readFileSync(join(RUNS, file), 'utf8')).tasks);
  return new Map(tasks.map((task) => [task.taskId, task.execution?.exitCode ?? 0]));
}
