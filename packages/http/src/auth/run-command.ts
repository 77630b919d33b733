import { ConfigurationError } from '@tinkex/types';
import { abortedBy, onAbort } from '../abort/on-abort.js';
import type { Clock } from '../clock/clock.js';
import { nodeModule } from '../runtime/node-module.js';

const MAX_OUTPUT_BYTES = 64 * 1024;

/** Text goes to the user's shell as it is; a list is a program and its arguments, without a shell. */
export type Command = string | readonly [program: string, ...args: string[]];

/**
 * Runs a command and returns what it prints. Neither the output nor the command appears in an error: both may be secret.
 *
 * @throws ConfigurationError when it cannot be started, fails, prints too much or takes too long; AbortedError on abort.
 */
export function runCommand(command: Command, timeoutMs: number, clock: Clock, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortedBy(signal));
      return;
    }
    const [program, args, shell] = typeof command === 'string' ? [command, [], true] : [command[0], command.slice(1), false];
    // A separate process group, so that whatever the shell starts ends with it.
    const { spawn } = nodeModule('node:child_process', 'A credential command');
    const child = spawn(program, args, {
      shell,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let size = 0;

    const finish = (error: Error | undefined): void => {
      clock.clearTimeout(timer);
      unfollow?.();
      child.removeAllListeners();
      child.stdout.removeAllListeners();
      if (error === undefined) {
        resolve(Buffer.concat(chunks).toString('utf8'));
        return;
      }
      child.on('error', () => undefined);
      child.stdout.destroy();
      endGroup(child.pid);
      reject(error);
    };
    const timer = clock.setTimeout(() => finish(failure(`took longer than ${timeoutMs} ms`)), timeoutMs);
    const unfollow = signal && onAbort(signal, () => finish(abortedBy(signal)));
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size > MAX_OUTPUT_BYTES) finish(failure(`printed more than ${MAX_OUTPUT_BYTES} bytes`));
      else chunks.push(chunk);
    });
    child.on('error', (error: NodeJS.ErrnoException) => finish(failure(`could not be started (${error.code ?? 'unknown reason'})`)));
    child.on('close', (code, killedBy) => {
      if (code === 0) finish(undefined);
      else finish(failure(code === null ? `was ended by ${killedBy}` : `ended with exit code ${code}`));
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

function failure(problem: string): ConfigurationError {
  return new ConfigurationError({ message: `The credential command ${problem}. Run it by hand to see why.`, option: 'credentialCommand' });
}
