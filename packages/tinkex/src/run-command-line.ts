import { CommanderError } from 'commander';
import { formatOf, type ProcessContext } from './commands/command-context.js';
import { readEnvironment } from './config/environment.js';
import { EXIT } from './output/exit-codes.js';
import { reportFailure } from './output/report-failure.js';
import { Terminal } from './output/terminal.js';
import { createProgram } from './program.js';

/** Runs the command line of this process to its end. Sets its exit code. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  endQuietlyWithReader();
  const interruption = listenForInterrupts();
  let exitCode: number = EXIT.success;
  const environment = readEnvironment();
  const streams = { out: process.stdout, error: process.stderr, input: process.stdin };
  const context: ProcessContext = {
    environment,
    signal: interruption.signal,
    now: () => new Date(),
    createTerminal: (isColorWanted) => new Terminal(streams, environment, isColorWanted),
    endWith(code) {
      exitCode = code;
    },
  };
  const program = createProgram(context);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? EXIT.success : EXIT.usage;
    else {
      const options = program.opts();
      const terminal = context.createTerminal(options['color'] !== false);
      exitCode = await reportFailure(error, terminal, { isJson: formatOf(options) === 'json', isDebug: options['debug'] === true });
    }
  }
  process.exitCode = interruption.signal.aborted ? EXIT.interrupted : exitCode;
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
function listenForInterrupts(): { readonly signal: AbortSignal } {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(EXIT.interrupted);
      controller.abort(new Error(`received ${name}`));
    });
  }
  return controller;
}
