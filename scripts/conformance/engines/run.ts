/**
 * Drives real Tinker servers from PyPI, on this machine and without a GPU: installs each into a virtual environment, starts it on loopback with a
 * tiny random model, calls the whole public API of our client, does the same with the official Python SDK, and runs the examples unchanged. Prints
 * the tables and writes them into docs/guides/self-hosted.md. The first time it compiles a lot: half an hour and more.
 *
 *   pnpm conformance:engines                     all servers
 *   pnpm conformance:engines tuft                one of them; the tables keep what the last run found about the others
 *   pnpm conformance:engines --limit=300         seconds for one feature (default 120); for a slow machine
 *   pnpm conformance:engines --no-write          prints the tables only
 *   pnpm conformance:engines --examples=dpo      only this example (repeatable); the rest as the last run found it
 *   pnpm conformance:engines --clients           only the two clients; the examples as the last run found them
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ServiceClient } from '../../../packages/clients/src/index.js';
import { ApiStatusError } from '../../../packages/types/src/index.js';
import { command } from '../../gates/command.js';
import { skip, verdict } from '../../gates/verdict.js';
import { root } from '../../packages.mjs';
import { NotAvailable, pythonEnvironment } from '../python-environments.js';
import { FEATURES, type FeatureContext } from './features.js';
import { ENGINES_CACHE, serverEnvironment } from './server-environment.js';
import { freePort, startServerProcess } from './server-process.js';
import { ENGINE_SERVERS, type EngineServer, type ServerPlaces } from './servers.js';
import { type Outcome, reportMarkdown, type ServerReport, withReport } from './table.js';
import { writeTinyModel } from './tiny-model.js';

const GUIDE = join(root, 'docs/guides/self-hosted.md');
const WARM_UP_LIMIT_MS = 900_000;
const PYTHON_PROGRAM = join(root, 'scripts/conformance/engines/features.py');
/** The examples that need a server, with counts that a CPU can take. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  quickstart: [],
  'custom-loss': [],
  'chat-sl': ['--fresh', '--epochs', '1'],
  'math-rl': ['--fresh', '--steps', '1'],
  dpo: ['--fresh', '--epochs', '1'],
  distillation: ['--fresh', '--steps', '1'],
  'prompt-distillation': ['--fresh', '--epochs', '1'],
  'tool-use': ['--fresh', '--steps', '1'],
  'twenty-questions': ['--fresh', '--steps', '1'],
  rubric: ['--fresh', '--steps', '1'],
  'concurrent-sampling': ['--prompts', '40', '--concurrency', '8'],
  'multi-tenant': [],
  checkpoints: [],
  telemetry: [],
  'http-layer': [],
  'testing-your-app': [],
};
/** What must work on a server that trains. The rest is in the table. */
const ESSENTIAL = [
  'capabilities',
  'create a training run',
  'forwardBackward',
  'optimStep',
  '20 steps',
  'saveState',
  'greedy sample of the base model',
];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    limit: { type: 'string', default: '120' },
    write: { type: 'boolean', default: true },
    examples: { type: 'string', multiple: true },
    clients: { type: 'boolean', default: false },
  },
  allowNegative: true,
});
const limitMs = Number(options.limit) * 1_000;
const wanted = ENGINE_SERVERS.filter(({ packageName }) => positionals.length === 0 || positionals.includes(packageName));
const reports: ServerReport[] = [];

for (const server of wanted) {
  try {
    reports.push(await drive(server));
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    skip(server.name, error.message);
  }
}
if (reports.length === 0) skip('conformance:engines', 'no server is available');
else {
  const markdown = reportMarkdown(await allReports());
  console.log(`\n${markdown}\n`);
  if (options.write) await writeFile(GUIDE, withReport(await readFile(GUIDE, 'utf8'), markdown));
}
verdict('conformance:engines', `${reports.length} of ${wanted.length} servers`, reports.flatMap(problemsOf));

/** The reports of all servers: those of this run, and of the others what their last run on this machine found. */
async function allReports(): Promise<ServerReport[]> {
  await Promise.all(reports.map((report) => writeFile(reportFile(report.packageName), JSON.stringify(report))));
  const kept = await Promise.all(ENGINE_SERVERS.map(({ packageName }) => lastReport(packageName)));
  return kept.filter((report) => report !== undefined);
}

async function lastReport(packageName: string): Promise<ServerReport | undefined> {
  const file = reportFile(packageName);
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as ServerReport) : undefined;
}

function reportFile(packageName: string): string {
  return join(ENGINES_CACHE, `${packageName}.json`);
}

async function drive(server: EngineServer): Promise<ServerReport> {
  const { folder, version } = await serverEnvironment(server);
  const model = join(ENGINES_CACHE, 'model');
  await writeTinyModel(model);
  const installed: Installed = { server, environment: folder, version, model };
  const last = await lastReport(server.packageName);
  if (last === undefined && (options.clients || options.examples !== undefined)) {
    throw new Error(`no run has finished on ${server.name} yet: leave out --clients and --examples`);
  }
  if (last !== undefined && options.examples !== undefined) {
    const driven = { ...last.examples, ...(await onNewServer(installed, 'examples', driveExamples)) };
    // An example that is gone leaves the table.
    return { ...last, examples: Object.fromEntries(Object.keys(EXAMPLES).flatMap((name) => (driven[name] ? [[name, driven[name]]] : []))) };
  }
  return {
    name: server.name,
    packageName: server.packageName,
    version,
    ours: await onNewServer(installed, 'ours', driveOwnClient),
    ...(await onNewServer(installed, 'python', drivePythonSdk)),
    examples: last !== undefined && options.clients ? last.examples : await onNewServer(installed, 'examples', driveExamples),
  };
}

interface Installed {
  readonly server: EngineServer;
  readonly environment: string;
  readonly version: string;
  readonly model: string;
}

/** A server that runs, and what its messages must not show. */
interface RunningServer {
  readonly server: EngineServer;
  readonly places: ServerPlaces;
  readonly url: string;
  readonly hidden: ReadonlyMap<string, string>;
}

/**
 * Drives a server that has just started. A server may keep something of one client for the next: gradients of an unloaded model, or weights that
 * all runs share. Each client must meet the same server, or their numbers say nothing.
 */
async function onNewServer<T>(
  { server, environment, version, model }: Installed,
  name: string,
  drive: (running: RunningServer) => Promise<T>,
): Promise<T> {
  const state = join(ENGINES_CACHE, `${server.packageName}-state`, name);
  await rm(state, { recursive: true, force: true });
  await mkdir(state, { recursive: true });
  const places: ServerPlaces = { environment, model, state, cache: join(ENGINES_CACHE, 'compiled'), port: await freePort() };
  console.log(`starting ${server.name} ${version} for ${name}`);
  await using running = await startServerProcess(await server.start(places), places.port, join(state, 'server.log'));
  const { url } = running;
  const hidden = new Map([
    [server.model(places), 'MODEL'],
    [url, 'URL'],
    [state, 'STATE'],
    [root, '.'],
  ]);
  await warmUp(server, places, url);
  return await drive({ server, places, url, hidden });
}

/** A server may answer before its engine has loaded the model. That takes minutes on a busy machine, and belongs to no feature. */
async function warmUp(server: EngineServer, places: ServerPlaces, baseUrl: string): Promise<void> {
  await using service = new ServiceClient({ baseUrl, apiKey: server.apiKey });
  const training = await service.createLoraTrainingClient({ baseModel: server.model(places), rank: 8, timeoutMs: WARM_UP_LIMIT_MS });
  await training.unload();
}

async function driveOwnClient({ server, places, url: baseUrl, hidden }: RunningServer): Promise<ServerReport['ours']> {
  await using service = new ServiceClient({ baseUrl, apiKey: server.apiKey });
  await using patient = new ServiceClient({ baseUrl, apiKey: server.apiKey, limits: { maxUnfinishedOperations: 1 } });
  const context: Omit<FeatureContext, 'call'> = { service, patient, baseModel: server.model(places), made: {} };
  const outcomes: Record<string, Outcome> = {};
  for (const [name, feature] of Object.entries(FEATURES)) {
    const startedAt = performance.now();
    // The limit of each call says what it interrupted; the signal ends a feature of many calls.
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new Error('the time limit')), 4 * limitMs);
    try {
      outcomes[name] = { value: await feature({ ...context, call: { signal: controller.signal, timeoutMs: limitMs } }) };
    } catch (error) {
      outcomes[name] = outcomeOf(error, hidden);
    } finally {
      clearTimeout(timer);
    }
    console.log(`  ${name}: ${describe(outcomes[name])} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
  }
  return outcomes;
}

async function drivePythonSdk({ server, places, url: baseUrl }: RunningServer): Promise<Pick<ServerReport, 'python' | 'pythonVersion'>> {
  try {
    const environment = await pythonEnvironment(server.pythonSdk);
    const variables = { TINKER_BASE_URL: baseUrl, TINKER_API_KEY: server.apiKey, TINKER_TELEMETRY: '0', HF_HUB_OFFLINE: '1' };
    const timeoutMs = limitMs * Object.keys(FEATURES).length;
    const { stdout, output } = await environment.run(
      'python',
      [PYTHON_PROGRAM, server.model(places), options.limit],
      variables,
      '',
      timeoutMs,
    );
    const printed = stdout.trim().split('\n').at(-1) ?? '';
    if (!printed.startsWith('{')) throw new NotAvailable(`features.py failed: ${output.trim().split('\n').at(-1)}`);
    const { version, results } = JSON.parse(printed) as { version: string; results: ServerReport['python'] };
    for (const [name, outcome] of Object.entries(results)) console.log(`  Python, ${name}: ${describe(outcome)}`);
    return { python: results, pythonVersion: version };
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    skip(`tinker ${server.pythonSdk} on ${server.name}`, error.message);
    return { python: {}, pythonVersion: undefined };
  }
}

async function driveExamples({ server, url: baseUrl, hidden }: RunningServer): Promise<ServerReport['examples']> {
  const outcomes: Record<string, Outcome> = {};
  for (const [name, args] of Object.entries(EXAMPLES)) {
    if (options.examples !== undefined && !options.examples.includes(name)) continue;
    const file = join(root, 'apps/examples/src', `${name}.ts`);
    const env = { TINKER_BASE_URL: baseUrl, TINKER_API_KEY: server.apiKey };
    const node = ['--conditions=@tinkex/source', '--import', 'tsx', file, ...args];
    const { code, output } = await command(process.execPath, node, { env, timeoutMs: 5 * limitMs });
    if (code === 0 && !output.includes('NaN')) outcomes[name] = {};
    else if (code === null) outcomes[name] = { error: `no answer in ${(5 * limitMs) / 1_000} s` };
    else
      outcomes[name] = {
        error: withoutNames(
          output
            .trim()
            .split(/\n\s*\n/)
            .at(-1) ?? '',
          hidden,
        ),
      };
    console.log(`  example ${name}: ${describe(outcomes[name])}`);
  }
  return outcomes;
}

function outcomeOf(error: unknown, hidden: ReadonlyMap<string, string>): Outcome {
  const text = withoutNames(error instanceof Error ? error.message : String(error), hidden);
  return { error: text, ...(ApiStatusError.isInstance(error) && { status: error.status }) };
}

/** A message without what differs from run to run: addresses, folders, ids. */
function withoutNames(text: string, hidden: ReadonlyMap<string, string>): string {
  let clean = text;
  for (const [name, stand] of hidden) clean = clean.replaceAll(name, stand);
  return clean
    .replaceAll(/\b(model|session|sampling)_[0-9a-f]{8}\b/g, '$1_ID')
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID');
}

function describe(outcome: Outcome | undefined): string {
  return outcome !== undefined && 'error' in outcome ? `no: ${outcome.error.slice(0, 200)}` : 'yes';
}

/** A server that runs at all must train, save and sample. */
function problemsOf({ name, ours }: ServerReport): string[] {
  return ESSENTIAL.flatMap((feature) => {
    const outcome = ours[feature];
    return outcome !== undefined && 'error' in outcome ? [`${name}: ${feature}: ${outcome.error}`] : [];
  });
}
