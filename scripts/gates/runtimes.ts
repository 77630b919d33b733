/**
 * Gate: packages that need no Node, packed and installed into an empty project, pass their own tests in Node, Bun, Deno and a browser. The runtimes come
 * from npm, the browser from the system or from npm. Where no browser is available, the gate says so.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages, type WorkspacePackage } from '../packages.mjs';
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

const directory = temporaryFolder('runtimes');
await fillToolbox();
const packages = publishedPackages().filter(({ needsNode }) => !needsNode);
const tarballs = new Map<string, string>();
for (const one of packages) tarballs.set(one.id, await packOne(one, directory));
const terminals = [
  { name: `Node ${process.versions.node}`, agent: /^(?:unnamed|Node\.js\/)/, program: process.execPath, args: [] },
  { name: `Bun ${PINS.bun}`, agent: /^Bun\//, program: await binary('@oven', 'bin/bun'), args: ['--no-install'] },
  // No permission of any kind, and nothing to resolve from but node_modules.
  {
    name: `Deno ${PINS.deno}`,
    agent: /^Deno\//,
    program: await binary('@deno', 'deno'),
    args: ['run', '--no-prompt', '--cached-only', '--no-lock', '--node-modules-dir=manual'],
  },
];
const browser = await findBrowser();
const problems: string[] = [];
for (const one of packages) problems.push(...(await examine(one)));
if (browser === undefined) skip('browser', 'none found; CHROME_PATH names one');
const examined = [...terminals.map(({ name }) => name), ...(browser === undefined ? [] : [browser.name])].join(', ');
verdict('test:runtimes', `${packages.map(({ id }) => id).join(', ')} in ${examined}`, problems);

async function examine(one: WorkspacePackage): Promise<string[]> {
  const project = join(directory, one.name);
  const consumer = new Consumer(project, [one], packages);
  await consumer.install(tarballs);
  const surprises = consumer.surprises();
  consumer.addPeers();
  await bundleTests(one, join(project, 'program.js'));
  writeFileSync(join(project, 'entry.mjs'), "import { report } from './program.js';\n\nconsole.log(await report);\n");
  const outputs: RuntimeOutput[] = [];
  const env = { NODE_OPTIONS: undefined, DENO_DIR: join(directory, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
  for (const { name, agent, program, args } of terminals) {
    const { output } = await command(program, [...args, 'entry.mjs'], { cwd: project, env, timeoutMs: 240_000 });
    outputs.push({ name, agent, output });
  }
  if (browser !== undefined) outputs.push({ name: browser.name, agent: /Chrome\//, output: await runInBrowser(browser, project) });
  for (const { name, output } of outputs) console.log(`${one.id} in ${name}: ${checksPassed(output)} tests passed`);
  return [...surprises, ...reportProblems(outputs)].map((problem) => `${one.id}: ${problem}`);
}
