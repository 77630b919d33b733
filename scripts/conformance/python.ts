/**
 * Drives `serve`, as a user starts it, with the official Python SDK: the oldest version that the server takes, one in the middle, and the
 * newest on PyPI. Each calls every public method and every command. Then our own client does the same on the same server, under another
 * key, and the results are compared value by value. Of the oldest version the requests are compared as well.
 *
 *   pnpm conformance:python                  all versions
 *   pnpm conformance:python --quick          the oldest and the newest
 *   pnpm conformance:python 0.34.0           these versions
 *   pnpm conformance:python --torch=2.13.0   also the newest with torch (large), which custom losses need
 *   pnpm conformance:python --record         also renews the committed recording of the Python SDK's requests
 *   pnpm conformance:python --cookbook       only the loops and files of the cookbook, which all but --quick includes (large)
 *   pnpm conformance:python --recipes        only the programs of the newest cookbook, unchanged: they must run to the end and learn (large)
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { ServiceClient } from '../../packages/clients/src/index.js';
import { conformanceFlow, type FlowResults } from '../../packages/clients/test/support/conformance-flow.js';
import { conformanceMethods } from '../../packages/clients/test/support/conformance-methods.js';
import {
  recordingDifferences,
  recordingOf,
  runOwnClient,
  startConformanceServer,
} from '../../packages/clients/test/support/conformance-server.js';
import type { CommandResult } from '../gates/command.js';
import { skip, verdict } from '../gates/verdict.js';
import { root } from '../packages.mjs';
import { compareCommands } from './compare-commands.js';
import { checkCookbook } from './cookbook.js';
import { NotAvailable, type PythonEnvironment, pythonEnvironment } from './python-environments.js';
import { checkRecipes } from './recipes.js';
import { type ServeProcess, startServeProcess } from './serve-process.js';
import { checkTinkerCommands } from './tinker-commands.js';

const OLDEST = '0.25.0';
const MIDDLE = '0.30.2';
/** The newest version whose methods are all called. */
const LAST_READ = '0.38.0';
const OWN_KEY = 'tml-typescript';
const RECORDING = join(root, 'vectors/python-recording.json');
const SCENARIO = join(root, 'scripts/conformance/scenario.py');
const EVERY_METHOD = join(root, 'scripts/conformance/every_method.py');
/** What one SDK has that the other has not: newer versions of the Python SDK have no archives. */
const NOT_COMPARED = new Set(['sdk', 'hasTorch', 'archiveIsTar', 'rest capabilities']);
/** Our client refuses these before it sends anything; the Python SDK leaves it to the server. */
const REFUSED_BY_US = new Set(['mismatch']);
/** A step with the wrong optimizer, and `auth status` without a key for this server. */
const BROKEN_ON_PURPOSE = ['optimizer-mismatch', 'api-key-missing'];
/** torch adds in single precision. */
const SINGLE_PRECISION = new Set(['customTotal', 'custom', 'traced']);

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    cookbook: { type: 'boolean', default: false },
    recipes: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    torch: { type: 'string' },
  },
});
const problems: string[] = [];
let skipped = 0;

const wantedEnvironments: { version: string; torch?: string }[] = [
  ...(options.cookbook || options.recipes ? [] : versionsToCheck()).map((version) => ({ version })),
  ...(options.torch === undefined ? [] : [{ version: 'newest', torch: options.torch }]),
];
if (options.torch === undefined) skip('custom losses in Python', 'they need torch; --torch=VERSION installs it in a separate environment');

for (const { version, torch } of wantedEnvironments) {
  const name = `tinker ${version}${torch === undefined ? '' : ` with torch ${torch}`}`;
  try {
    const environment = await pythonEnvironment(version, torch);
    const before = problems.length;
    problems.push(...(await checkVersion(environment)).map((problem) => `tinker ${environment.version}: ${problem}`));
    console.log(`${problems.length === before ? 'passed' : 'FAILED'}: ${name} (${environment.version})`);
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    skip(name, error.message);
    skipped += 1;
  }
}
if (options.quick) skip('the Python cookbook', 'it needs torch; conformance:python without --quick runs it');
else if (options.recipes) await checkPart('programs of tinker-cookbook', checkRecipes);
else if (positionals.length === 0) await checkPart('tinker-cookbook', checkCookbook);
if (wantedEnvironments.length > 0 && skipped === wantedEnvironments.length) skip('conformance:python', 'no environment is available');
verdict('conformance:python', `${wantedEnvironments.length - skipped} environments`, problems);

async function checkPart(name: string, check: () => Promise<string[]>): Promise<void> {
  try {
    const found = await check();
    problems.push(...found);
    console.log(`${found.length === 0 ? 'passed' : 'FAILED'}: ${name}`);
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    skip(name, error.message);
  }
}

function versionsToCheck(): string[] {
  if (positionals.length > 0) return positionals;
  return options.quick ? [OLDEST, 'newest'] : [OLDEST, MIDDLE, 'newest'];
}

async function checkVersion(environment: PythonEnvironment): Promise<string[]> {
  await using server = await startServeProcess();
  const variables = { ...server.variables, TINKER_TELEMETRY: '0' };
  const flags = environment.hasTorch ? ['--torch'] : [];
  const scenario = await printedBy(environment, [SCENARIO, ...flags], variables);
  if (typeof scenario === 'string') return [scenario];
  const methods = await printedBy(environment, [EVERY_METHOD], variables);
  if (typeof methods === 'string') return [methods];
  const found = [
    ...compareResults({ ...scenario, ...(methods['results'] as FlowResults) }, await ownResults(server, environment, methods)),
    ...uncalledMethods(methods, environment),
    ...(await checkCommands(environment, server, scenario)),
    ...complaintsOf(server, environment),
  ];
  if (environment.version === OLDEST) found.push(...(await compareRequests(environment)));
  return found;
}

/** The JSON object in the last line that a program prints; text that describes its failure otherwise. */
async function printedBy(
  { run }: PythonEnvironment,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Record<string, unknown> | string> {
  const result = await run('python', args, variables);
  const printed = result.stdout.trim().split('\n').at(-1) ?? '';
  if (!hasFailed(result) && printed.startsWith('{')) return JSON.parse(printed) as Record<string, unknown>;
  return `${args[0]} failed (exit code ${result.code})\n${result.output.slice(-5_000)}`;
}

/**
 * Whether a program of the SDK says that it failed. A signal (no code) does not count: the SDK sometimes crashes while Python shuts down,
 * after everything is done and printed. The output is checked in any case.
 */
function hasFailed({ code }: CommandResult): boolean {
  return code !== 0 && code !== null;
}

/** What our client gets from the same server as another tenant, for the steps that the Python SDK has. */
async function ownResults(server: ServeProcess, environment: PythonEnvironment, methods: FlowResults): Promise<FlowResults> {
  const clientOptions = { baseUrl: server.variables.TINKER_BASE_URL, apiKey: OWN_KEY };
  const python = methods['results'] as FlowResults;
  const { version: sdkVersion, hasTorch: hasCustomLoss } = environment;
  await using first = new ServiceClient({ ...clientOptions, userMetadata: { suite: 'conformance' }, sdkVersion });
  const scenario = await conformanceFlow(first, { hasCustomLoss });
  const displayName = Object.hasOwn(python, 'search') ? 'every method' : undefined;
  await using second = new ServiceClient({
    ...clientOptions,
    userMetadata: { suite: 'methods' },
    projectId: 'conformance',
    displayName,
    sdkVersion,
  });
  const has = (step: string): boolean => Object.hasOwn(python, step);
  return { ...scenario, ...(await conformanceMethods({ service: second, clientOptions, has })) };
}

function compareResults(theirs: FlowResults, ours: FlowResults): string[] {
  const names = Object.keys(theirs).filter((name) => !NOT_COMPARED.has(name));
  console.log(`  ${names.length} results compared`);
  return names.flatMap((name) => {
    const [python, typescript] = [plainValue(theirs[name]), plainValue(ours[name])];
    if (REFUSED_BY_US.has(name) ? typescript === 'local' : isDeepStrictEqual(python, typescript)) return [];
    if (SINGLE_PRECISION.has(name) && areNear(python, typescript)) return [];
    return [`${name} differs\n  python     ${JSON.stringify(python)}\n  typescript ${JSON.stringify(typescript)}`];
  });
}

/** A value as JSON has it, with session IDs numbered in the order in which they appear. */
function plainValue(value: unknown): unknown {
  const sessions: string[] = [];
  const text = JSON.stringify(value ?? null).replaceAll(/sess-[0-9a-z]{4,}/g, (id) => {
    if (!sessions.includes(id)) sessions.push(id);
    return `session ${sessions.indexOf(id)}`;
  });
  return JSON.parse(text, (_, each) => (typeof each === 'number' ? each + 0 : each)) as unknown;
}

function areNear(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(a));
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const names = Object.keys(a);
  return isDeepStrictEqual(names, Object.keys(b)) && names.every((name) => areNear(Reflect.get(a, name), Reflect.get(b, name)));
}

/** Public methods of the SDK that the program did not call. Those of a release after the last one that was read are reported, not failures. */
function uncalledMethods(methods: FlowResults, { version, hasTorch }: PythonEnvironment): string[] {
  const uncalled = (methods['uncalled'] as string[]).filter((name) => hasTorch || !name.includes('custom'));
  if (uncalled.length === 0) return [];
  if (version.localeCompare(LAST_READ, 'en', { numeric: true }) <= 0) return [`these methods were not called: ${uncalled.join(', ')}`];
  skip(`new methods of tinker ${version}`, `the program does not call ${uncalled.join(', ')} yet`);
  return [];
}

async function checkCommands(environment: PythonEnvironment, server: ServeProcess, scenario: FlowResults): Promise<string[]> {
  // Only the newest is checked with torch, and its commands were checked without.
  if (environment.hasTorch) return [];
  await using exchanging = await startServeProcess('--flag', 'pjwt_auth_enabled');
  const subject = {
    modelId: String(scenario['modelId']),
    state: (scenario['paths'] as string[])[0] ?? '',
    variables: { ...server.variables, TINKER_TELEMETRY: '0' },
    tokenVariables: exchanging.variables,
  };
  // Ours has the fields of the newest command. It is compared first: the others delete what they work on.
  const isNewest = environment.version.localeCompare(LAST_READ, 'en', { numeric: true }) >= 0;
  const different = isNewest ? await compareCommands(environment, subject) : [];
  return [...different, ...(await checkTinkerCommands(environment, subject))];
}

/** What the server has to say: it must have seen the version, and no rule broken but those that the programs break on purpose. */
function complaintsOf({ output, violations }: ServeProcess, { version }: PythonEnvironment): string[] {
  const notices = [...output.matchAll(/^Notice: (.+)$/gm)].map(([, text]) => text);
  for (const notice of notices) console.log(`  notice: ${notice}`);
  const broken = violations.filter((text) => !BROKEN_ON_PURPOSE.some((rule) => text.startsWith(rule)));
  if (!output.includes(`Client: AsyncTinker/Python ${version}`)) broken.push('serve does not say which version it saw');
  return broken;
}

/** The oldest version and our client send the same requests. The server is in this process, because it keeps them. */
async function compareRequests(environment: PythonEnvironment): Promise<string[]> {
  await using server = await startConformanceServer();
  const variables = { TINKER_BASE_URL: server.url, TINKER_API_KEY: server.apiKey, TINKER_TELEMETRY: '0' };
  const results = await printedBy(environment, [SCENARIO], variables);
  if (typeof results === 'string') return [results];
  const recording = recordingOf(server.calls);
  server.verify();
  if (options.record) {
    const lines = recording.map((request) => `  ${JSON.stringify(request)}`).join(',\n');
    await writeFile(RECORDING, `{\n "sdk": ${JSON.stringify(environment.version)},\n "requests": [\n${lines}\n ]\n}\n`);
    console.log(`recorded ${recording.length} requests`);
  }
  const own = await runOwnClient({ sdkVersion: environment.version });
  const { onlyPython, onlyTypeScript } = recordingDifferences(recording, own.recording);
  return [
    ...onlyPython.map((request) => `only Python sends ${JSON.stringify(request)}`),
    ...onlyTypeScript.map((request) => `only TypeScript sends ${JSON.stringify(request)}`),
  ];
}
