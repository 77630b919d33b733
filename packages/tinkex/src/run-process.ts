import { readEnvironment } from './config/environment.js';
import { EXIT } from './output/exit-codes.js';
import { runCommandLine } from './run-command-line.js';

/** Runs the command line of this process to its end. Sets its exit code. */
export async function runProcess(): Promise<void> {
  endQuietlyWithReader();
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    streams: { out: process.stdout, error: process.stderr, input: process.stdin },
    environment: readEnvironment(),
    signal: listenForInterrupts(),
  });
}

/** A reader such as `head` may leave before everything is written. That is not an error. */
function endQuietlyWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit();
      throw error;
    });
  }
}

/** The first Ctrl-C lets the command finish what must be finished; the second ends it. */
function listenForInterrupts(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(EXIT.interrupted);
      controller.abort(new Error(`received ${name}`));
    });
  }
  return controller.signal;
}
