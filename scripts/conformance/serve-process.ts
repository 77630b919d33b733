import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../packages.mjs';

/** How long the command may take to print its lines. */
const START_LIMIT_MS = 60_000;

/** The command `serve` in its own process, as a user starts it. */
export interface ServeProcess extends AsyncDisposable {
  /** The variables from the lines that it prints. */
  readonly variables: Readonly<Record<'TINKER_BASE_URL' | 'TINKER_API_KEY', string>>;
  /** Everything printed so far. */
  readonly output: string;
  /** The rules that clients broke so far, from the log. */
  readonly violations: readonly string[];
}

/** Starts `serve` on a free port, at its default settings except for the given arguments. */
export async function startServeProcess(...args: string[]): Promise<ServeProcess> {
  const main = join(root, 'packages/testkit/src/cli/main.ts');
  const node = ['--conditions=@tinkex/source', '--import', 'tsx', main, 'serve', '--port', '0', ...args];
  const child = spawn(process.execPath, node, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  const exported = (name: string) => new RegExp(`export ${name}=(\\S+)`).exec(output)?.[1];
  const signal = AbortSignal.timeout(START_LIMIT_MS);
  while (!output.includes('Press Ctrl-C')) {
    await Promise.race([once(child.stdout, 'data', { signal }), once(child, 'exit', { signal })]);
    if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}\n${output}`);
  }
  const [url, key] = [exported('TINKER_BASE_URL'), exported('TINKER_API_KEY')];
  if (url === undefined || key === undefined) {
    await stop();
    throw new Error(`serve does not say how to reach it\n${output}`);
  }
  return {
    variables: { TINKER_BASE_URL: url, TINKER_API_KEY: key },
    get output() {
      return output;
    },
    get violations() {
      return [...output.matchAll(/^ +! (.+)$/gm)].map(([, text = '']) => text);
    },
    [Symbol.asyncDispose]: stop,
  };
}
