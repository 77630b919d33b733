import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ListenOptions, TestServerOptions } from '../server/server-options.js';

/** Options of a server in its own process: those of `startServer()` that are plain data, and the clock. */
export interface ServerProcessOptions
  extends Pick<
      TestServerOptions,
      | 'anyModel'
      | 'baseModels'
      | 'flags'
      | 'ignoreRules'
      | 'longPollMs'
      | 'retentionMs'
      | 'samplingSeed'
      | 'seqGapMs'
      | 'sessionTtlMs'
      | 'strict'
    >,
    Pick<ListenOptions, 'port'> {
  /** The engine: `learn` (default) really learns, `canned` gives fixed answers of the right shape. */
  readonly engine?: 'learn' | 'canned' | undefined;
  /** The name of the server to imitate. Default `hosted`. */
  readonly dialect?: Extract<TestServerOptions['dialect'], string> | undefined;
  /** Whether time stands still until a test advances it. Default false. */
  readonly hasVirtualClock?: boolean | undefined;
}

/** A test server that runs in its own process. */
export interface ServerProcess {
  readonly url: string;
  /** The token of its control API. */
  readonly token: string;
  /** Ends the process. */
  stop(): Promise<void>;
}

/**
 * What the process runs. It imports this package by its own name, which works from its folder. The options, with the token, come through a pipe
 * that no other program can read; the process ends with its parent, which is the other end: a test run that is killed leaves no server behind.
 */
const PROGRAM = `
import { createInterface } from 'node:readline';
import { startServer, VirtualClock } from '@tinkex/testkit';
const lines = createInterface({ input: process.stdin }).on('close', () => process.exit());
lines.once('line', async (line) => {
  const { hasVirtualClock, ...options } = JSON.parse(line);
  const { url } = await startServer({ ...options, ...(hasVirtualClock ? { clock: new VirtualClock() } : {}) });
  process.stdout.write(JSON.stringify({ url }) + '\\n');
});
`;

/** How long the start may take on a loaded machine before it counts as failed. Real time. */
const START_TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 20_000;

/**
 * Starts a test server in its own process, with its control API on. It takes scripts from tests in any process or language, and does not need this
 * process to load ES modules.
 */
export async function startServerProcess(options: ServerProcessOptions = {}): Promise<ServerProcess> {
  const token = randomBytes(16).toString('hex');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    cwd: dirname(fileURLToPath(import.meta.url)),
    stdio: 'pipe',
    windowsHide: true,
  });
  child.stdin.write(`${JSON.stringify({ ...options, control: { token } })}\n`);
  try {
    const url = await urlOf(child);
    letGo(child);
    return { url, token, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

function urlOf(child: ChildProcess): Promise<string> {
  let output = '';
  let errors = '';
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`The test server ${why}. It printed:\n${errors}${output}`));
    const timer = setTimeout(() => fail(`did not start within ${START_TIMEOUT_MS / 1_000} s`), START_TIMEOUT_MS);
    child.once('error', reject);
    child.stdin?.on('error', () => undefined);
    child.once('close', (code) => fail(`ended with code ${code} before it listened`));
    child.stderr?.on('data', (part) => {
      errors = `${errors}${String(part)}`.slice(-MAX_OUTPUT);
    });
    child.stdout?.on('data', (part) => {
      output = `${output}${String(part)}`.slice(-MAX_OUTPUT);
      const line = /^\{"url":.*\}$/m.exec(output)?.[0];
      if (line === undefined) return;
      clearTimeout(timer);
      resolve((JSON.parse(line) as { readonly url: string }).url);
    });
  });
}

/** Neither the process nor its pipes keep the tests alive; what it prints from now on is dropped. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) {
    pipe?.removeAllListeners('data');
    (pipe as { unref?: () => void } | null)?.unref?.();
  }
  child.stdout?.resume();
  child.stderr?.resume();
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  child.ref();
  child.kill();
  await ended;
}
