import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../packages.mjs';

/** How a client reaches the server; the same after every restart. */
export interface Reached {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The server of the soak in its own process, which can be stopped, killed and started again from its state folder. */
export class ServerProcess {
  readonly reached: Reached;
  readonly #stateDir: string;
  readonly #script: string;
  #child: ChildProcess;

  private constructor(script: string, stateDir: string, child: ChildProcess, reached: Reached) {
    this.#script = script;
    this.#stateDir = stateDir;
    this.#child = child;
    this.reached = reached;
  }

  /** @param script - The program that serves when it is started with `--serve`. */
  static async start(script: string): Promise<ServerProcess> {
    const stateDir = await mkdtemp(join(tmpdir(), 'soak-'));
    const child = serve(script, stateDir, '0');
    return new ServerProcess(script, stateDir, child, await firstLine(child));
  }

  /** Freezes the process for a while: its sockets stay open and nothing answers. */
  async pause(forMs: number): Promise<void> {
    this.#child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, forMs));
    this.#child.kill('SIGCONT');
  }

  /** Kills the process without notice and starts it again on its port, from what it had on disk. */
  async restart(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
    this.#child = serve(this.#script, this.#stateDir, new URL(this.reached.baseUrl).port);
    await firstLine(this.#child);
  }

  /** Ends the process in order. Returns its exit code: not 0 if it has complaints. */
  async stop(): Promise<number | null> {
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    const [code] = (await exited) as [number | null];
    await rm(this.#stateDir, { recursive: true, force: true });
    return code;
  }
}

function serve(script: string, stateDir: string, port: string): ChildProcess {
  const node = ['--conditions=@tinkex/source', '--import', 'tsx', script, '--serve', `--state=${stateDir}`, `--port=${port}`];
  return spawn(process.execPath, node, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
}

async function firstLine({ stdout }: ChildProcess): Promise<Reached> {
  const lines = createInterface({ input: stdout as NodeJS.ReadableStream });
  const [line] = (await once(lines, 'line')) as [string];
  lines.close();
  return JSON.parse(line) as Reached;
}
