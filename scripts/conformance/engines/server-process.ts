import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { childEnvironment } from '../../run/spawn.mjs';
import type { StartCommand } from './servers.js';

/** How long an engine may take to load its model. */
const START_LIMIT_MS = 600_000;
const STOP_LIMIT_MS = 15_000;

/** A server that runs in its own process group on loopback. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server and waits until it answers. Everything that it prints goes to `logFile`. */
export async function startServerProcess(
  { program, args, variables }: StartCommand,
  port: number,
  logFile: string,
): Promise<ServerProcess> {
  const log = createWriteStream(logFile);
  await once(log, 'open');
  const child = spawn(program, args, { env: { ...childEnvironment(), ...variables }, stdio: ['ignore', log, log], detached: true });
  const signalGroup = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended by itself.
    }
  };
  const killAtExit = (): void => signalGroup('SIGKILL');
  process.once('exit', killAtExit);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const stop = async (): Promise<void> => {
    process.off('exit', killAtExit);
    if (!hasEnded()) {
      signalGroup('SIGTERM');
      await Promise.race([once(child, 'exit'), delay(STOP_LIMIT_MS, undefined, { ref: false })]);
    }
    signalGroup('SIGKILL');
    log.end();
  };
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_LIMIT_MS;
  while (!(await answers(url))) {
    if (hasEnded() || Date.now() > deadline) {
      await stop();
      throw new Error(`the server ${hasEnded() ? 'ended' : 'did not answer in time'}; its log is ${logFile}`);
    }
    await delay(500);
  }
  return { url, [Symbol.asyncDispose]: stop };
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/api/v1/healthz`, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}
