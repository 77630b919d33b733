/**
 * All benchmarks, side by side with their limits and peers.
 *
 *   pnpm bench                          everything: tens of minutes
 *   pnpm bench --quick                  a first impression, under a minute
 *   pnpm bench --only sample,import     works by their id, or all whose id starts so
 *   pnpm bench --rounds 9
 *   pnpm bench --no-python
 *   pnpm bench --torch=2.13.0           the Python SDK as those have it who write custom losses; installs torch, which is large
 *
 * Prints a table for each work, and writes it into results/latest.json, .md and .svg after each; with --only, the others stay there as they
 * were. --quick writes temp/quick.* instead.
 */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readCommandLine, refuse } from './command-line.js';
import { inTurns, type WorkResult } from './measure/in-turns.js';
import type { Bench } from './measure/work.js';
import { pythonSdk } from './python/python-sdk.js';
import { type Machine, Results } from './report/results.js';
import { printResult } from './report/table.js';
import { startServer } from './server/start-server.js';
import { codecWorks } from './suites/codecs.js';
import { httpWorks } from './suites/http.js';
import { importWorks } from './suites/importing.js';
import { pendingWorks } from './suites/pending.js';
import { findPythonRenderers, renderingWorks } from './suites/rendering.js';
import { samplingWorks } from './suites/sampling.js';
import { testkitWorks } from './suites/testkit.js';
import { trainingWorks } from './suites/training.js';

const { isQuick, rounds, only: wanted, hasPython, torch } = readCommandLine();

const here = fileURLToPath(new URL('.', import.meta.url));
execFileSync(`${here}node_modules/.bin/tsc`, ['-p', `${here}tsconfig.build.json`], { stdio: 'inherit' });

const server = await startServer();
const sdk = hasPython ? await pythonSdk(server.url, torch) : { reason: '--no-python' };
if ('reason' in sdk) {
  // Who names a version wants the comparison: without it, kept results would be replaced by poorer ones.
  if (torch !== undefined) refuse(`--torch=${torch}: ${sdk.reason}`);
  console.log(`The Python SDK is not compared with: ${sdk.reason}`);
}
const renderers = isQuick ? {} : await findPythonRenderers(hasPython, torch);
const bench: Bench = { server, isQuick, python: 'run' in sdk ? sdk.run : undefined, renderers };
const works = [importWorks, samplingWorks, pendingWorks, trainingWorks, codecWorks, renderingWorks, httpWorks, testkitWorks].flatMap(
  (suite) => suite(bench),
);
const unknown = wanted?.filter((name) => !works.some(({ id }) => isMeant(name, id))) ?? [];
if (unknown.length > 0) refuse(`no work is called ${unknown.join(' or ')}; there are ${works.map(({ id }) => id).join(', ')}`);
const chosen = works.filter(({ id }) => wanted === undefined || wanted.some((name) => isMeant(name, id)));

/** A whole id means that one work, anything else all that start so. */
function isMeant(name: string, id: string): boolean {
  return works.some((work) => work.id === name) ? id === name : id.startsWith(name);
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
const file = new Results(
  target,
  works.map(({ id }) => id),
);
const results: WorkResult[] = [];
const failures: string[] = [];
for (const work of chosen) {
  try {
    const result = await inTurns(work, rounds, server);
    results.push(result);
    file.add(result, machine);
    printResult(result);
  } catch (error) {
    // The others are still worth knowing; the exit code tells.
    failures.push(work.id);
    console.error(`\n${work.title}   [${work.id}] FAILED:`, error instanceof Error ? error.message : error);
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
