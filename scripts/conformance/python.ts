/**
 * Drives the testkit with the official Python SDK: the version the protocol pages describe, held to every rule, and the newest one on PyPI.
 * Then our own client does the same and both are compared: what they sent, and what they got.
 *
 *   pnpm conformance:python               both versions
 *   pnpm conformance:python --record      also renews the committed recording of the Python SDK's requests
 *   pnpm conformance:python --torch=2.13.0   installs torch (large) and runs the custom loss as well
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import {
  type RecordedRequest,
  recordingDifferences,
  recordingOf,
  runOwnClient,
  startConformanceServer,
} from '../../packages/clients/test/support/conformance-server.js';
import type { CommandResult } from '../gates/command.js';
import { skip, verdict } from '../gates/verdict.js';
import { root } from '../packages.mjs';
import { NotAvailable, type PythonEnvironment, pythonEnvironment } from './python-environments.js';

const PROTOCOL_VERSION = '0.25.0';
const RECORDING = join(root, 'vectors/python-recording.json');
const SCENARIO = join(root, 'scripts/conformance/scenario.py');
/** What the newer SDKs print that ours does not, or the other way round. */
const NOT_COMPARED = new Set(['sdk', 'hasTorch', 'archiveIsTar']);

const { values: options } = parseArgs({ options: { record: { type: 'boolean', default: false }, torch: { type: 'string' } } });
const problems: string[] = [];
let skipped = 0;

const wantedEnvironments: { version: string; torch?: string }[] = [{ version: PROTOCOL_VERSION }, { version: 'newest' }];
if (options.torch === undefined)
  console.log('left out: the custom loss, which needs torch; --torch=VERSION installs it in a separate environment');
else wantedEnvironments.push({ version: PROTOCOL_VERSION, torch: options.torch });

for (const { version, torch } of wantedEnvironments) {
  const name = `tinker ${version}${torch === undefined ? '' : ` with torch ${torch}`}`;
  try {
    const environment = await pythonEnvironment(version, torch);
    const before = problems.length;
    await checkVersion(environment);
    console.log(`${problems.length === before ? 'passed' : 'FAILED'}: ${name} (${environment.version})`);
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    skip(name, error.message);
    skipped += 1;
  }
}
if (skipped === wantedEnvironments.length) skip('conformance:python', 'no environment is available');
verdict('conformance:python', `${wantedEnvironments.length - skipped} environments`, problems);

async function checkVersion(environment: PythonEnvironment): Promise<void> {
  const { version, hasTorch } = environment;
  const isNewerSdk = version !== PROTOCOL_VERSION;
  await using server = await startConformanceServer({ isNewerSdk });
  const variables = { TINKER_BASE_URL: server.url, TINKER_API_KEY: server.apiKey, TINKER_TELEMETRY: '0' };
  const scenario = await environment.run('python', [SCENARIO, ...(hasTorch ? ['--torch'] : [])], variables);
  const printed = scenario.stdout.trim().split('\n').at(-1) ?? '';
  if (hasFailed(scenario) || !printed.startsWith('{')) {
    problems.push(`tinker ${version}: the scenario failed (exit code ${scenario.code})\n${scenario.output}`);
    return;
  }
  const results = JSON.parse(printed) as Record<string, unknown>;
  console.log(`tinker ${version}: ${server.calls.length} requests${hasTorch ? ', a custom loss among them' : ''}`);
  const recording = recordingOf(server.calls);
  await checkCommands(environment, variables, String(results['modelId']));
  try {
    server.verify();
  } catch (error) {
    problems.push(`tinker ${version}: ${error instanceof Error ? error.message : String(error)}`);
  }
  await compareWithOwnClient(environment, isNewerSdk, results, recording);
  if (options.record && !isNewerSdk && !hasTorch) {
    const lines = recording.map((request) => `  ${JSON.stringify(request)}`).join(',\n');
    await writeFile(RECORDING, `{\n "sdk": ${JSON.stringify(version)},\n "requests": [\n${lines}\n ]\n}\n`);
    console.log(`recorded ${recording.length} requests`);
  }
}

/**
 * Whether a program of the SDK says that it failed. A signal (no code) does not count: tinker 0.36.0 sometimes crashes while
 * Python shuts down, after everything is done and printed. The output is checked in any case.
 */
function hasFailed({ code }: CommandResult): boolean {
  return code !== 0 && code !== null;
}

/** The SDK's own commands must be able to read what the server lists. */
async function checkCommands(
  { version, run }: PythonEnvironment,
  variables: Readonly<Record<string, string>>,
  modelId: string,
): Promise<void> {
  const commands: [string[], string][] = [
    [['--format', 'json', 'run', 'list'], modelId],
    [['--format', 'json', 'checkpoint', 'list', '--run-id', modelId], 'weights/state-1'],
    [['--format', 'json', 'checkpoint', 'list'], 'weights/state-1'],
    [['run', 'list'], 'tinkex/tiny'],
  ];
  for (const [args, expected] of commands) {
    const result = await run('tinker', args, { ...variables, COLUMNS: '300' });
    if (hasFailed(result) || !result.stdout.includes(expected))
      problems.push(
        `tinker ${version}: \`tinker ${args.join(' ')}\` does not show ${expected} (exit code ${result.code})\n${result.output}`,
      );
  }
}

async function compareWithOwnClient(
  { version, hasTorch }: PythonEnvironment,
  isNewerSdk: boolean,
  theirs: Readonly<Record<string, unknown>>,
  recording: readonly RecordedRequest[],
): Promise<void> {
  const own = await runOwnClient({ hasCustomLoss: hasTorch, sdkVersion: version });
  for (const [name, value] of Object.entries(theirs)) {
    if (NOT_COMPARED.has(name) || isDeepStrictEqual(own.results[name], value)) continue;
    // torch adds in single precision.
    if (name === 'customTotal' && Math.abs(Number(value) - Number(own.results[name])) < 1e-3) continue;
    problems.push(
      `tinker ${version}: ${name} differs\n  python     ${JSON.stringify(value)}\n  typescript ${JSON.stringify(own.results[name])}`,
    );
  }
  // A newer SDK may say more than the protocol pages know; only the version they describe is held to equality.
  if (isNewerSdk) return;
  const { onlyPython, onlyTypeScript } = recordingDifferences(recording, own.recording);
  for (const request of onlyPython) problems.push(`tinker ${version}: only Python sends ${JSON.stringify(request)}`);
  for (const request of onlyTypeScript) problems.push(`tinker ${version}: only TypeScript sends ${JSON.stringify(request)}`);
}
