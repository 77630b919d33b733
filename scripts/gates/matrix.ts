/**
 * Runs the tests that depend on the runtime on each Node version we promise, each fetched as an npm package. Arguments name the versions; the default
 * is all. Turbo's cache is off: it would skip exactly what this gate is for.
 */
import { publishedPackages, withDependencies } from '../packages.mjs';
import { run } from '../run/spawn.mjs';
import { verdict } from './verdict.js';

const PROMISED = ['20', '22', '24'];

const packages = publishedPackages();
const usedByTests = new Set(packages.flatMap(({ testDependencies }) => testDependencies));
/** What opens sockets: http and everything above it. The testkit runs inside the tests of the others; the rest is arithmetic. */
const runtimeRelevant = packages
  .filter((one) => withDependencies(one, packages).some(({ id }) => id === '@tinkex/http') && !usedByTests.has(one.name))
  .map(({ name }) => name);

const wanted = process.argv.slice(2);
const versions = wanted.length === 0 ? PROMISED : wanted;
const problems: string[] = [];
for (const version of versions) {
  console.log(`\n=== Node ${version}`);
  const env = { ...process.env, TINKEX_TEST_FORCE: '1' };
  const code = await run('npx', ['--yes', '-p', `node@${version}`, 'node', 'scripts/run.mjs', 'test', ...runtimeRelevant], { env });
  if (code !== 0) problems.push(`the tests fail on Node ${version} (exit code ${code})`);
}
verdict('test:matrix', `Node ${versions.join(', ')}: ${runtimeRelevant.join(', ')}`, problems);
