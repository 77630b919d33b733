/**
 * Runs the benchmarks and prints a table for each.
 *
 *   pnpm bench                          everything: tens of minutes
 *   pnpm bench --quick                  a first impression, under a minute
 *   pnpm bench training import          the benchmarks with these IDs, or whose IDs start like this
 *   pnpm bench training --quick         the same with short loads and two rounds
 *   pnpm bench --rounds 9
 *   pnpm bench --no-python
 *   pnpm bench --torch=2.13.0           the Python SDK with torch, which custom losses need; installs torch, which is large
 *
 * Writes results/latest.json, .md and .svg after each benchmark; results of benchmarks that did not run stay as they were. --quick writes
 * temp/quick.* instead.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readCommandLine, refuse } from './command-line.js';
import type { Bench } from './measure/benchmark.js';
import { type BenchmarkResult, runBenchmark } from './measure/run-benchmark.js';
import { pythonSdk } from './python/python-sdk.js';
import { type Machine, Results } from './report/results.js';
import { printResult } from './report/table.js';
import { startServer } from './server/start-server.js';
import { codecBenchmarks } from './suites/codecs.js';
import { cookbookBenchmarks, findPythonCookbook } from './suites/cookbook.js';
import { gatewayBenchmarks } from './suites/gateway.js';
import { httpBenchmarks } from './suites/http.js';
import { importBenchmarks } from './suites/importing.js';
import { inspectorBenchmarks } from './suites/inspector.js';
import { pendingBenchmarks } from './suites/pending.js';
import { findTorch, recallBenchmarks } from './suites/recall.js';
import { findPythonRenderers, renderingBenchmarks } from './suites/rendering.js';
import { samplingBenchmarks } from './suites/sampling.js';
import { sessionPollBenchmarks } from './suites/session-poll.js';
import { startUpBenchmarks } from './suites/start-up.js';
import { testkitBenchmarks } from './suites/testkit.js';
import { trainingBenchmarks } from './suites/training.js';

/** Where systems have it. */
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const { isQuick, rounds, names, hasPython, torch } = readCommandLine();

const here = fileURLToPath(new URL('.', import.meta.url));
execFileSync(`${here}node_modules/.bin/tsc`, ['-p', `${here}tsconfig.build.json`], { stdio: 'inherit' });

const server = await startServer();
const sdk = hasPython ? await pythonSdk(server.url, torch) : { reason: '--no-python' };
if ('reason' in sdk) {
  // If you name a version you want the comparison: without it, poorer results would replace the kept ones.
  if (torch !== undefined) refuse(`--torch=${torch}: ${sdk.reason}`);
  console.log(`No comparison with the Python SDK: ${sdk.reason}`);
}
const browser = process.env['CHROME_PATH'] || CHROMIUM.find((path) => existsSync(path));
if (browser === undefined) console.log('The page of the inspector is not measured: no browser; CHROME_PATH names one.');
const renderers = isQuick ? {} : await findPythonRenderers(hasPython, torch);
// It is large, so it is installed only when these benchmarks are named.
const pythonCookbook = await findPythonCookbook(hasPython && names.some((name) => name.startsWith('supervised-loop')));
const bench: Bench = {
  server,
  isQuick,
  isSurvey: isQuick && names.length === 0,
  python: 'run' in sdk ? sdk.run : undefined,
  renderers,
  pythonCookbook,
  torch: await findTorch(hasPython ? torch : undefined),
  browser,
};
const benchmarks = [
  importBenchmarks,
  startUpBenchmarks,
  samplingBenchmarks,
  pendingBenchmarks,
  sessionPollBenchmarks,
  trainingBenchmarks,
  cookbookBenchmarks,
  codecBenchmarks,
  renderingBenchmarks,
  httpBenchmarks,
  testkitBenchmarks,
  recallBenchmarks,
  gatewayBenchmarks,
  inspectorBenchmarks,
].flatMap((suite) => suite(bench));
const ids = benchmarks.map(({ id }) => id);
const unknown = names.filter((name) => !ids.some((id) => isMeant(name, id)));
if (unknown.length > 0) refuse(`there is no benchmark ${unknown.join(' or ')}; there are ${ids.join(', ')}`);
const chosen = benchmarks.filter(({ id }) => names.length === 0 || names.some((name) => isMeant(name, id)));

/** A complete ID means that benchmark, anything else all benchmarks whose IDs start like this. */
function isMeant(name: string, id: string): boolean {
  return ids.includes(name) ? id === name : id.startsWith(name);
}

const machine: Machine = {
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGigabytes: Math.round(totalmem() / 2 ** 30),
  pythonSdk: 'version' in sdk ? sdk.version : `not run: ${sdk.reason}`,
};
console.log({ ...machine, load: loadavg()[0] });

const target = `${here}${isQuick ? 'temp/quick' : 'results/latest'}`;
const file = new Results(target, ids);
const results: BenchmarkResult[] = [];
const failures: string[] = [];
for (const benchmark of chosen) {
  try {
    const result = await runBenchmark(benchmark, rounds, server);
    results.push(result);
    file.add(result, machine);
    printResult(result);
  } catch (error) {
    // The other results are still useful; the exit code reports the failure.
    failures.push(benchmark.id);
    console.error(`\n${benchmark.title}   [${benchmark.id}] FAILED:`, error instanceof Error ? error.message : error);
  }
}
server.close();

const missed = results.flatMap(({ id, outcomes }) =>
  outcomes.filter(({ isMet }) => isMet === false).map(({ metric, of, against }) => ({ id, metric, of, against })),
);
const goals = results.flatMap(({ outcomes }) => outcomes.filter(({ isMet }) => isMet !== undefined)).length;
console.log(`\n${goals - missed.length} of ${goals} goals met.${missed.length === 0 ? '' : ' Missed:'}`);
for (const { id, metric, of, against } of missed)
  console.log(`  ${id}: ${metric} of ${of}${against === undefined ? '' : ` against ${against}`}`);

if (results.length > 0) console.log(`Written: ${target}.json, .md and .svg`);
process.exitCode = failures.length === 0 ? 0 : 1;
