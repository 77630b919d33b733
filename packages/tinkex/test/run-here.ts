import { PassThrough, Readable, Writable } from 'node:stream';
import { readEnvironment } from '../src/config/environment.js';
import { runCommandLine } from '../src/run-command-line.js';
import { type CommandResult, plainEnvironment, type RunOptions } from './run-command.js';

/** What a command line runs in besides its environment. */
export interface HereOptions extends RunOptions {
  /** The width of a terminal that shows both streams; unset for pipes. */
  readonly columns?: number | undefined;
}

/** The folder and the environment belong to the process, so one command line runs at a time. */
let last: Promise<unknown> = Promise.resolve();

/** Runs a command line in this process, to its end. It sees the streams, the folder and the environment of a separate process; only starting one costs too much for hundreds. */
export async function runHere(args: readonly string[], options: HereOptions = {}): Promise<CommandResult> {
  const before = last;
  const run = before.then(() => runAlone(args, options));
  last = run.catch(() => undefined);
  return await run;
}

async function runAlone(args: readonly string[], { env = {}, cwd, input = '', columns, stopAt }: HereOptions): Promise<CommandResult> {
  const saved = { cwd: process.cwd(), env: process.env };
  process.env = { ...plainEnvironment(), ...env };
  if (cwd !== undefined) process.chdir(cwd);
  const stop = new AbortController();
  const written = { out: '', error: '' };
  const stream = (name: 'out' | 'error') =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          written[name] += chunk.toString('utf8');
          if (stopAt?.test(written.error) === true && !stop.signal.aborted) stop.abort(new Error('received SIGINT'));
          done();
        },
      }),
      columns === undefined ? {} : { isTTY: true, columns },
    );
  try {
    const code = await runCommandLine(args, {
      streams: {
        out: stream('out'),
        error: stream('error'),
        input: input === '' ? new PassThrough().end() : Readable.from([Buffer.from(input)]),
      },
      environment: readEnvironment(),
      signal: stop.signal,
    });
    return { code, stdout: written.out, stderr: written.error };
  } finally {
    process.chdir(saved.cwd);
    process.env = saved.env;
  }
}
