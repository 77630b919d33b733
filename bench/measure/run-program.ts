import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { built } from './built.js';
import type { Measurements } from './program.js';

const TIMEOUT_MS = 240_000;

/** Runs a compiled program in a fresh process and returns its measurements. `flags` are for Node. */
export async function runProgram(name: string, task: object, flags: readonly string[] = []): Promise<Measurements> {
  const args = ['--expose-gc', ...flags, built(`programs/${name}.js`), JSON.stringify(task)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: TIMEOUT_MS, maxBuffer: 1 << 24 });
  return lastLine(stdout);
}

/** The measurements that a program printed on its last line. */
export function lastLine(output: string): Measurements {
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Measurements;
}
