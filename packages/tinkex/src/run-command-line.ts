import { CommanderError } from 'commander';
import { formatOf, type ProcessContext, type ProcessStreams } from './commands/command-context.js';
import type { CliEnvironment } from './config/environment.js';
import { EXIT } from './output/exit-codes.js';
import { reportFailure } from './output/report-failure.js';
import { Terminal } from './output/terminal.js';
import { createProgram } from './program.js';

/** What a command line runs in: a process, or a test. */
export interface CommandHost {
  readonly streams: ProcessStreams;
  readonly environment: CliEnvironment;
  /** Ends the work at Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Runs a command line to its end. Returns its exit code. */
export async function runCommandLine(args: readonly string[], { streams, environment, signal }: CommandHost): Promise<number> {
  let exitCode: number = EXIT.success;
  const context: ProcessContext = {
    streams,
    environment,
    signal,
    now: () => new Date(),
    createTerminal: (isColorWanted) => new Terminal(streams, environment, isColorWanted),
    endWith(code) {
      exitCode = code;
    },
  };
  const program = await createProgram(context, args);
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
  return signal.aborted ? EXIT.interrupted : exitCode;
}
