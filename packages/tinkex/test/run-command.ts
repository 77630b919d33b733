import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The bundled command. */
export const MAIN = fileURLToPath(new URL('../temp/main.js', import.meta.url));

/** How a process has ended, and what it has written. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a command is started with. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string | undefined;
  /** Ctrl-C comes as soon as stderr has this. */
  readonly stopAt?: RegExp | undefined;
}

/** The environment without anything that names a service or changes how a program starts or prints. */
export function plainEnvironment(): Record<string, string> {
  const changes = /^(TINKER_|TINKEX_|HF_|NODE_OPTIONS|NO_COLOR|FORCE_COLOR|VITEST|COLUMNS)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !changes.test(name))) as Record<string, string>;
}

/** Runs the command in its own process, with pipes, to its end. */
export async function runCommand(args: readonly string[], { env = {}, cwd, input = '', stopAt }: RunOptions = {}): Promise<CommandResult> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...plainEnvironment(), ...env } });
  const read = async (stream: NodeJS.ReadableStream): Promise<string> => {
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) {
      text += String(chunk);
      if (stream === child.stderr && stopAt?.test(text) === true) child.kill('SIGINT');
    }
    return text;
  };
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  const [stdout, stderr, code] = await Promise.all([read(child.stdout), read(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'tinkex-command-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A JSON value with the names of its types in place of what differs from run to run. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]));
  if (typeof value !== 'string') return value;
  if (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{6})?\+00:00$/.test(value)) return 'TIME';
  if (/^\d{4}-\d\d-\d\dT\d\d:00:00Z$/.test(value)) return 'HOUR';
  return value.replace(/http:\/\/127\.0\.0\.1:\d+\S*/, 'URL').replace(/.*tinkex-command-\w+/, 'FOLDER');
}
