/**
 * Runs the tests that depend on the runtime on each Node version we promise, each fetched as an npm package. Arguments name the versions; the default
 * is all. The cache is not used: its purpose here would be to skip exactly what we want to see.
 */
import { run } from '../run/workspace.mjs';
import { verdict } from './verdict.js';

const PROMISED = ['20', '22', '24'];
/** Sockets, timers, zlib, diagnostics, and the clients with the whole testkit below them. The rest is arithmetic, which no version changes. */
const RUNTIME_RELEVANT = ['http', 'telemetry', 'clients'];

const wanted = process.argv.slice(2);
const versions = wanted.length === 0 ? PROMISED : wanted;
const problems: string[] = [];
for (const version of versions) {
  console.log(`\n=== Node ${version}`);
  const env = { ...process.env, TINKEX_TEST_FORCE: '1' };
  const code = await run('npx', ['--yes', '-p', `node@${version}`, 'node', 'scripts/run.mjs', 'test', ...RUNTIME_RELEVANT], { env });
  if (code !== 0) problems.push(`the tests fail on Node ${version} (exit code ${code})`);
}
verdict('test:matrix', `Node ${versions.join(', ')}`, problems);
