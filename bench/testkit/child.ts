import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** A script of this folder in a process of its own. */
export interface Child {
  /** The first line it printed. */
  readonly line: string;
  /** From its start to its first line. */
  readonly startMs: number;
  /** Ends it and gives its last line. */
  stop(): Promise<string>;
}

/** What users install is the build: it is measured when it is there, else the sources. */
const isBuilt = existsSync(new URL('../../packages/testkit/dist/index.js', import.meta.url));
const condition = isBuilt ? [] : ['--conditions=@tinkex/source'];

/** Starts a script, resolves with its first line. */
export async function startChild(script: string, ...args: string[]): Promise<Child> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...condition, '--expose-gc', '--import', 'tsx', path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
  const stop = (): Promise<string> => {
    const rest = text(child.stdout);
    child.kill('SIGTERM');
    return rest;
  };
  return { line, startMs: performance.now() - startedAt, stop };
}
