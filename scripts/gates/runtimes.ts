/**
 * Gate: packages that need no Node, packed and installed into an empty project, pass their own tests in Node, Bun, Deno and a browser; the clients pass their
 * tests of the runtime in Node, Bun and Deno, where the README's program runs too. The runtimes come from npm, the browser from the system or from npm. Where
 * no browser is available, the gate says so.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { fencedBlocks } from '../docs/markdown.js';
import { publishedPackages, root, type WorkspacePackage, withDependencies } from '../packages.mjs';
import { findBrowser } from '../runtimes/browser.js';
import { bundleTests } from '../runtimes/bundle-tests.js';
import { runInBrowser } from '../runtimes/page.js';
import { PINS } from '../runtimes/pins.js';
import { checksPassed, type RuntimeOutput, reportProblems } from '../runtimes/report.js';
import { binary, fillToolbox } from '../runtimes/toolbox.js';
import { Consumer } from '../tarballs/consumer.js';
import { command } from './command.js';
import { packOne } from './pack.js';
import { temporaryFolder } from './temporary-folder.js';
import { skip, verdict } from './verdict.js';

/** What the README's program has taught the model, and samples from it. */
const LEARNED = 'brown fox jumps over the lazy dog.';

const directory = temporaryFolder('runtimes');
await fillToolbox();
const published = publishedPackages();
const packages = published.filter(({ needsNode }) => !needsNode);
/** What the README's program installs. */
const clients = published.filter(({ name }) => name === 'clients' || name === 'testkit');
const tarballs = new Map<string, string>();
const packed = new Set([...packages, ...clients.flatMap((one) => withDependencies(one, published))]);
for (const one of packed) tarballs.set(one.id, await packOne(one, directory));
const terminals = [
  { name: `Node ${process.versions.node}`, agent: /^(?:unnamed|Node\.js\/)/, program: process.execPath, args: [] },
  { name: `Bun ${PINS.bun}`, agent: /^Bun\//, program: await binary('@oven', 'bin/bun'), args: ['--no-install'] },
  // Nothing to resolve from but node_modules, and no permission that is not named below.
  {
    name: `Deno ${PINS.deno}`,
    agent: /^Deno\//,
    program: await binary('@deno', 'deno'),
    args: ['run', '--no-prompt', '--cached-only', '--no-lock', '--node-modules-dir=manual'],
    /** Settings, the version of the package, and loopback. */
    clientArgs: ['--allow-env', '--allow-read=.', '--allow-sys', '--allow-net=127.0.0.1'],
  },
];
const env = { NODE_OPTIONS: undefined, DENO_DIR: join(directory, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
const browser = await findBrowser();
const problems: string[] = [];
for (const one of packages) problems.push(...(await examine(one)));
problems.push(...(await examineClients()));
if (browser === undefined) skip('browser', 'none found; CHROME_PATH names one');
const examined = [...terminals.map(({ name }) => name), ...(browser === undefined ? [] : [browser.name])].join(', ');
verdict('test:runtimes', `${packages.map(({ id }) => id).join(', ')} in ${examined}; clients in all but the browser`, problems);

async function examine(one: WorkspacePackage): Promise<string[]> {
  const project = join(directory, one.name);
  const consumer = new Consumer(project, [one], packages);
  await consumer.install(tarballs);
  const surprises = consumer.surprises();
  consumer.addPeers();
  await bundleTests(one, join(project, 'program.js'));
  writeFileSync(join(project, 'entry.mjs'), "import { report } from './program.js';\n\nconsole.log(await report);\n");
  const outputs: RuntimeOutput[] = [];
  for (const { name, agent, program, args } of terminals) {
    const { output } = await command(program, [...args, 'entry.mjs'], { cwd: project, env, timeoutMs: 240_000 });
    outputs.push({ name, agent, output });
  }
  if (browser !== undefined) outputs.push({ name: browser.name, agent: /Chrome\//, output: await runInBrowser(browser, project) });
  for (const { name, output } of outputs) console.log(`${one.id} in ${name}: ${checksPassed(output)} tests passed`);
  return [...surprises, ...reportProblems(outputs)].map((problem) => `${one.id}: ${problem}`);
}

/** The clients' own tests of the runtime, and the first program that a reader of the README tries. */
async function examineClients(): Promise<string[]> {
  const project = join(directory, 'first-program');
  const consumer = new Consumer(project, clients, published);
  await consumer.install(tarballs);
  const own = clients.find(({ name }) => name === 'clients') as WorkspacePackage;
  // Its other entry points need optional peers, which are not installed here.
  const main = { ...own, entries: own.entries.filter(({ subpath }) => subpath === '.') };
  await bundleTests(main, join(project, 'program.js'), /^test\/runtimes\/.*\.test\.ts$/);
  writeFileSync(join(project, 'entry.mjs'), "import { report } from './program.js';\n\nconsole.log(await report);\n");
  writeFileSync(join(project, 'readme.mjs'), readmeProgram());
  const outputs: RuntimeOutput[] = [];
  const problems: string[] = [];
  for (const { name, agent, program, args, clientArgs = [] } of terminals) {
    const run = (file: string) => command(program, [...args, ...clientArgs, file], { cwd: project, env, timeoutMs: 240_000 });
    const [{ output }, readme] = [await run('entry.mjs'), await run('readme.mjs')];
    outputs.push({ name, agent, output });
    console.log(`clients in ${name}: ${checksPassed(output)} tests passed`);
    if (readme.code !== 0 || !readme.output.includes(LEARNED)) problems.push(`${name}: the README's program failed:\n${readme.output}`);
  }
  return [...problems, ...reportProblems(outputs)].map((problem) => `clients: ${problem}`);
}

/** The first program of the README in the language of all runtimes: `using` is not in all of them yet. */
function readmeProgram(): string {
  const [first] = fencedBlocks(readFileSync(join(root, 'README.md'), 'utf8')).filter(({ info }) => info[0] === 'ts');
  const { target, module } = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 };
  return ts.transpileModule(first?.code ?? '', { compilerOptions: { target, module } }).outputText;
}
