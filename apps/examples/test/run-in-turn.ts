/**
 * Runs examples one after the other in one process and prints how each ended, as JSON. For runs that are over at once: there, starting a
 * process for each would be most of the work.
 */
import { format } from 'node:util';
import type { Ended } from './run-program.js';

/** One run: an example, its arguments and what the environment says. */
export interface Turn {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const [node = '', , turnsJson = '[]'] = process.argv;
const { log, error } = console;
const ends: Ended[] = [];
for (const [index, { name, args = [], env = {} }] of (JSON.parse(turnsJson) as Turn[]).entries()) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  console.log = (...values: unknown[]) => stdout.push(`${format(...values)}\n`);
  console.error = (...values: unknown[]) => stderr.push(`${format(...values)}\n`);
  const program = new URL(`../src/${name}.ts`, import.meta.url);
  process.argv = [node, program.pathname, ...args];
  Object.assign(process.env, env);
  await import(`${program.href}?turn=${index}`);
  ends.push({ code: Number(process.exitCode ?? 0), stdout: stdout.join(''), stderr: stderr.join('') });
  for (const key of Object.keys(env)) delete process.env[key];
  process.exitCode = 0;
}
Object.assign(console, { log, error });
console.log(JSON.stringify(ends));
