/**
 * Gate: `@tinkex/types`, packed and installed into an empty project, does the same in Node, Bun, Deno and a browser. One program of several hundred checks
 * runs in each; the runtimes come from npm, the browser from the machine or from npm. Where none can be had, the gate says so.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBrowser } from '../runtimes/browser.js';
import { runInBrowser } from '../runtimes/page.js';
import { PINS } from '../runtimes/pins.js';
import { checksPassed, type RuntimeOutput, reportProblems } from '../runtimes/report.js';
import { binary, fillToolbox } from '../runtimes/toolbox.js';
import { writeProgram } from '../runtimes/write-program.js';
import { Consumer } from '../tarballs/consumer.js';
import { INSTALL_SETS } from '../tarballs/install-sets.js';
import { command } from './command.js';
import { packOne } from './pack.js';
import { publishedPackages } from './published-packages.js';
import { temporaryFolder } from './temporary-folder.js';
import { verdict } from './verdict.js';

/** What the program may import; a Node built-in among them would not even load in a browser. */
const UNDER_TEST = ['@tinkex/types', '@tinkex/types/wire'];

const directory = temporaryFolder('runtimes');
await fillToolbox();
const project = join(directory, 'project');
const problems = await install(project);
const outputs: RuntimeOutput[] = [
  await inTerminal(`Node ${process.versions.node}`, /^(?:unnamed|Node\.js\/)/, process.execPath, ['entry.mjs']),
  await inTerminal(`Bun ${PINS.bun}`, /^Bun\//, await binary('@oven', 'bin/bun'), ['--no-install', 'entry.mjs']),
  // No permission of any kind, and nothing to resolve from but node_modules.
  await inTerminal(`Deno ${PINS.deno}`, /^Deno\//, await binary('@deno', 'deno'), [
    ...['run', '--no-prompt', '--cached-only', '--no-lock', '--node-modules-dir=manual', 'entry.mjs'],
  ]),
];
const browser = await findBrowser();
if (browser !== undefined) outputs.push({ name: browser.name, agent: /Chrome\//, output: await runInBrowser(browser, project) });

for (const { name, output } of outputs) console.log(`${name}: ${checksPassed(output)} checks passed`);
if (browser === undefined) console.log('browser: not run: no browser found (CHROME_PATH names one)');
const examined = [...outputs.map(({ name }) => name), ...(browser === undefined ? ['no browser found'] : [])].join(', ');
verdict('test:runtimes', examined, [...problems, ...reportProblems(outputs)]);

async function inTerminal(name: string, agent: RegExp, program: string, args: readonly string[]): Promise<RuntimeOutput> {
  const env = { NODE_OPTIONS: undefined, DENO_DIR: join(directory, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
  const { output } = await command(program, args, { cwd: project, env, timeoutMs: 60_000 });
  return { name, agent, output };
}

async function install(project: string): Promise<string[]> {
  const types = publishedPackages().find(({ id }) => id === '@tinkex/types');
  const alone = INSTALL_SETS.find(({ packages }) => packages.join() === 'types');
  if (types === undefined || alone === undefined) throw new Error('there is no way to install @tinkex/types alone');
  const consumer = new Consumer(project, alone, [types]);
  await consumer.install(new Map([[types, await packOne(types, directory)]]));
  const imports = await writeProgram(join(project, 'program.js'));
  writeFileSync(join(project, 'entry.mjs'), "import { report } from './program.js';\n\nconsole.log(report);\n");
  const others = imports.filter((name) => !UNDER_TEST.includes(name));
  return [...consumer.surprises(), ...others.map((name) => `the check program imports ${name}`)];
}
