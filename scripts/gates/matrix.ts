/**
 * Runs the tests that depend on the runtime on each Node version we promise, each fetched as an npm package. Arguments name the versions; the default
 * is all. Turbo's cache is off: it would skip exactly what this gate is for.
 */
import { publishedPackages, withDependencies } from '../packages.mjs';
import { run } from '../run/spawn.mjs';
import { NODE_VERSIONS } from '../runtimes/pins.js';
import { verdict } from './verdict.js';

const packages = publishedPackages();
const cookbook = packages.filter(({ id }) => id === '@tinkex/cookbook').flatMap((one) => withDependencies(one, packages));
/** What a training program loads and what opens sockets: http and everything above it. The testkit runs inside these tests; the rest is arithmetic. */
const runtimeRelevant = cookbook
  .filter((one) => withDependencies(one, packages).some(({ id }) => id === '@tinkex/http'))
  .map(({ name }) => name);

const wanted = process.argv.slice(2);
const versions: readonly string[] = wanted.length === 0 ? NODE_VERSIONS : wanted;
const problems: string[] = [];
for (const version of versions) {
  console.log(`\n=== Node ${version}`);
  const env = { ...process.env, TINKEX_TEST_FORCE: '1' };
  const code = await run('npx', ['--yes', '-p', `node@${version}`, 'node', 'scripts/run.mjs', 'test', ...runtimeRelevant], { env });
  if (code !== 0) problems.push(`the tests fail on Node ${version} (exit code ${code})`);
}
verdict('test:matrix', `Node ${versions.join(', ')}: ${runtimeRelevant.join(', ')}`, problems);
