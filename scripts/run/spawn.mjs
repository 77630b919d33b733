import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from '../packages.mjs';

/** What went wrong before anything of the repository ran; its message is meant for the person at the terminal. */
export class SetUpError extends Error {
  /** @override */
  name = 'SetUpError';
}

/** Environment of everything started here: local binaries first, no questions, no phoning home. */
export function childEnvironment() {
  return {
    ...process.env,
    PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`,
    // turbo's cache key does not contain the Node version; this variable is in its `globalEnv`.
    TINKEX_NODE_VERSION: process.version,
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
  };
}

/**
 * Runs a program with our terminal and waits for it.
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: Record<string, string | undefined>, cwd?: string }} [options] defaults: {@link childEnvironment}, the root
 * @returns {Promise<number>} its exit code; 128 + n when a signal ended it
 */
export function run(program, args, { env = childEnvironment(), cwd = root } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: 'inherit', shell: process.platform === 'win32' });
    // Ctrl-C reaches the child through the terminal; we stay to report how it ended.
    const ignore = () => undefined;
    const forward = () => child.kill('SIGTERM');
    process.on('SIGINT', ignore);
    process.on('SIGTERM', forward);
    const detach = () => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', forward);
    };
    child.once('error', (error) => {
      detach();
      reject(new SetUpError(`could not start ${program}: ${error.message}`));
    });
    child.once('close', (code, signal) => {
      detach();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
