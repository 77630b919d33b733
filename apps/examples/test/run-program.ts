import { spawn } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundles, plainEnvironment } from './program-files.js';

/** How a program ended and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What to start a program with. */
export interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where it leaves files. */
  readonly out?: string;
}

/** Runs an example with pipes instead of a terminal, in an environment that names no service. */
export async function runProgram(name: string, { args = [], env = {}, out }: RunOptions = {}): Promise<Ended> {
  return run([join(bundles, `${name}.js`), ...args], { ...env, ...(out === undefined ? {} : { TINKEX_EXAMPLES_OUT: out }) });
}

/** What each example prints with `--help`, run from its sources as `npm start` runs it. */
export async function usagesOf(names: readonly string[]): Promise<Record<string, string>> {
  const program = fileURLToPath(new URL('usages.ts', import.meta.url));
  const { code, stdout, stderr } = await run(['--conditions=@tinkex/source', '--import', 'tsx', program, ...names]);
  if (code !== 0) throw new Error(`The usages could not be printed (${code}): ${stderr}`);
  return JSON.parse(stdout) as Record<string, string>;
}

/** Runs an example for a reader who leaves after the first output, as `head` does. */
export async function runForHastyReader(name: string): Promise<Ended> {
  return run([join(bundles, `${name}.js`)], {}, true);
}

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, isReaderHasty = false): Promise<Ended> {
  const child = spawn(process.execPath, args, { env: { ...plainEnvironment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (isReaderHasty) child.stdout.destroy();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, stdout, stderr };
}

/** A folder for a program's files, gone at the end of the test. */
export async function temporaryOutput(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'tinkex-examples-')));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
