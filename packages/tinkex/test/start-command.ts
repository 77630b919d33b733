import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MAIN, plainEnvironment } from './run-command.js';

/** How a command is started. */
export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What stdout has when everything is printed: the two streams arrive in any order. Default: the key of the Anthropic API. */
  readonly until?: RegExp;
}

/** A command that runs until Ctrl-C. */
export interface StartedCommand extends AsyncDisposable {
  readonly stdout: string;
  /** The variables that it prints. */
  readonly env: Readonly<Record<string, string>>;
  /** Presses Ctrl-C and gives the exit code. Idempotent. */
  stop(): Promise<number | null>;
}

/** Starts a command in its own process and waits until it says that it runs. */
export async function startCommand(
  args: readonly string[],
  cwd: string,
  { env = {}, until = /^export ANTHROPIC_API_KEY=.*\n/m }: StartOptions = {},
): Promise<StartedCommand> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...plainEnvironment(), HOME: cwd, ...env } });
  let [out, notes] = ['', ''];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`tinkex ${args[0]} ended: ${notes}`)));
    const read = (): void => {
      if (until.test(out) && notes.includes('Press Ctrl-C')) resolve();
    };
    child.stdout.on('data', (text) => {
      out += String(text);
      read();
    });
    child.stderr.on('data', (text) => {
      notes += String(text);
      read();
    });
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  async function stop(): Promise<number | null> {
    child.kill('SIGINT');
    return (await ended)[0];
  }
  return {
    stdout: out,
    env: Object.fromEntries([...out.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value])) as Record<string, string>,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
