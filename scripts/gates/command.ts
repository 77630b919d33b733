import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { root } from '../packages.mjs';
import { childEnvironment } from '../run/spawn.mjs';

/** The process groups of the programs that run now. A signal to ours (Ctrl-C, a time limit) does not reach them: we have to forward it. */
const running = new Set<number>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(128 + constants.signals[signal]));
process.once('exit', () => {
  for (const group of running) killGroup(group);
});

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

/** What a program did. */
export interface CommandResult {
  /** The exit code; `null` when a signal or the time limit ended it. */
  readonly code: number | null;
  /** Standard output and standard error, in the order they arrived. */
  readonly output: string;
  /** Standard output alone. */
  readonly stdout: string;
}

/** Where and how a program runs. */
export interface CommandOptions {
  /** Defaults to the repository's root. */
  readonly cwd?: string;
  /** Added to the environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** After this long the program and its children are killed. Default 5 minutes. */
  readonly timeoutMs?: number;
  /** What the program reads from its standard input. Default: nothing. */
  readonly input?: string;
}

/** Runs a program without a terminal, collecting what it prints. Rejects only if it cannot be started. */
export function command(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { cwd = root, env = {}, timeoutMs = 300_000, input = '' } = options;
  return new Promise((resolve, reject) => {
    // Its own process group, so that the time limit also reaches grandchildren.
    const child = spawn(program, args, { cwd, env: { ...childEnvironment(), ...env }, stdio: 'pipe', detached: true });
    // A program that ends without reading it closes the pipe.
    child.stdin.on('error', () => undefined).end(input);
    if (child.pid !== undefined) running.add(child.pid);
    let output = '';
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const timer = setTimeout(() => {
      output += `\nkilled: it ran longer than ${timeoutMs / 1000} s\n`;
      if (child.pid !== undefined) killGroup(child.pid);
    }, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      if (child.pid !== undefined) running.delete(child.pid);
      resolve({ code, output, stdout });
    });
  });
}

/** Like {@link command}, but a failure is an error that carries the output. */
export async function commandOrThrow(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const result = await command(program, args, options);
  if (result.code !== 0) throw new Error(`${program} ${args.join(' ')} failed (exit code ${result.code})\n${result.output}`);
  return result;
}
