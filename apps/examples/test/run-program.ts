import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Turn } from './run-in-turn.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

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
  /** Ctrl-C is sent, once, when the output matches. */
  readonly interruptAt?: RegExp;
}

/** Runs an example as `npm start -- <name>` does, in an environment that names no service. */
export async function runProgram(name: string, { args = [], env = {}, out, interruptAt }: RunOptions = {}): Promise<Ended> {
  const program = join('apps', 'examples', 'src', `${name}.ts`);
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^(TINKER_|TINKEX_|NODE_OPTIONS|NO_COLOR|VITEST)/.test(key)),
  );
  const child = spawn(process.execPath, ['--conditions=@tinkex/source', '--import', 'tsx', program, ...args], {
    cwd: root,
    env: { ...inherited, ...env, ...(out === undefined ? {} : { TINKEX_EXAMPLES_OUT: out }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let isInterrupted = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (!isInterrupted && interruptAt?.test(stdout)) isInterrupted = child.kill('SIGINT');
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
  const path = await mkdtemp(join(tmpdir(), 'tinkex-examples-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Runs examples one after the other in one process; for runs that are over at once. */
export async function runInTurn(turns: readonly Turn[]): Promise<Ended[]> {
  const { code, stdout, stderr } = await runProgram('../test/run-in-turn', { args: [JSON.stringify(turns)] });
  if (code !== 0) throw new Error(`The runs ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Ended[];
}
