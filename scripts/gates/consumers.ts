/**
 * Gate: the packed packages work in the set-ups that users have: compilers, bundlers, test runners, web frameworks, without the optional peers. Every row of the README's
 * table of these is a project here that is built and run. A sample of the compilers' matrix by default; `--full` takes all of it, `--next` only Next.js,
 * `--ai` only the newest AI SDK.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { aiRow } from '../consumers/ai-row.js';
import { bundlerRows } from '../consumers/bundler-rows.js';
import { deploymentRows } from '../consumers/deployment-rows.js';
import { nextRow } from '../consumers/next-row.js';
import { openTelemetryRow } from '../consumers/opentelemetry-row.js';
import { AI_PINS, NEXT_PINS, PINS } from '../consumers/pins.js';
import type { Row } from '../consumers/row.js';
import { testRunnerRows } from '../consumers/test-runner-rows.js';
import { sampledTypescriptRows, typescriptRows } from '../consumers/typescript-rows.js';
import { webAppRows } from '../consumers/web-app-rows.js';
import { publishedPackages, root } from '../packages.mjs';
import { binary, fillToolbox, installTools } from '../runtimes/toolbox.js';
import { Consumer } from '../tarballs/consumer.js';
import { command } from './command.js';
import { inParallel } from './in-parallel.js';
import { packAll } from './pack.js';
import { verdict } from './verdict.js';

const isFull = process.argv.includes('--full');
const isNext = process.argv.includes('--next');
const isAi = process.argv.includes('--ai');
const kind = isNext ? '-next' : isAi ? '-ai' : '';

/** The projects stand inside the toolbox, so that they find its programs, and nothing else of ours. */
const TOOLBOX = join(root, 'temp', `consumers${kind}`);
const PROJECTS = join(TOOLBOX, 'projects');

await installTools(TOOLBOX, isNext ? NEXT_PINS : isAi ? AI_PINS : PINS);
rmSync(PROJECTS, { recursive: true, force: true });
const packages = publishedPackages();
const wanted = packages.filter(({ name }) => ['clients', 'testkit', 'ai-sdk'].includes(name));
await new Consumer(PROJECTS, wanted, packages).install(await packAll());
const rows = isNext ? [nextRow()] : isAi ? [aiRow()] : await everydayRows();
const problems = await inParallel(rows, examine);
verdict('check:consumers', rows.map(({ name }) => name).join('; '), problems.flat());

/** A name in the arguments narrows them down. */
async function everydayRows(): Promise<Row[]> {
  await fillToolbox();
  const compilers = isFull ? typescriptRows() : sampledTypescriptRows();
  const all = [
    ...bundlerRows(),
    ...testRunnerRows(),
    ...webAppRows(await binary('@oven', 'bin/bun')),
    openTelemetryRow(),
    ...deploymentRows(),
    ...compilers,
  ];
  const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  return all.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)));
}

async function examine({ name, files, manifest = { type: 'module' }, commands, env = {}, expected, isOurs }: Row): Promise<string[]> {
  const project = join(PROJECTS, name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'));
  for (const [file, content] of Object.entries({ ...files, 'package.json': JSON.stringify({ private: true, ...manifest }) })) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), content);
  }
  let output = '';
  for (const [program, ...args] of commands) {
    const isNode = program === 'node';
    const result = await command(isNode ? process.execPath : program, args, { cwd: project, env: { NODE_OPTIONS: undefined, ...env } });
    output = result.output;
    const complaints = isOurs === undefined ? output : output.split('\n').filter(isOurs).join('\n');
    if (result.code !== 0 && complaints !== '') return [`${name}: ${args.join(' ')} failed:\n${complaints}`];
  }
  return output.includes(expected) ? [] : [`${name}: the output does not contain "${expected}":\n${output.slice(-4_000)}`];
}
