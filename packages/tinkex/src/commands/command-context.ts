import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import type { CliEnvironment } from '../config/environment.js';
import type { OutputStream, Terminal } from '../output/terminal.js';

/** How a result is written. */
export type OutputFormat = 'table' | 'json' | 'csv';

/** Options that every command has. They may stand before and after its name. */
export interface GlobalOptions {
  readonly format?: OutputFormat | undefined;
  readonly json?: boolean | undefined;
  /** A file, or true for stdout. */
  readonly csv?: string | true | undefined;
  readonly baseUrl?: string | undefined;
  readonly local?: boolean | undefined;
  readonly maxRetries?: number | undefined;
  readonly color?: boolean | undefined;
  readonly debug?: boolean | undefined;
}

/** The streams of a process. */
export interface ProcessStreams {
  readonly out: Writable & OutputStream;
  readonly error: Writable & OutputStream;
  readonly input: Readable & { readonly isTTY?: boolean | undefined };
}

/** What a command works with. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** For what asks the user; results go to {@link terminal}. */
  readonly streams: ProcessStreams;
  readonly environment: CliEnvironment;
  readonly format: OutputFormat;
  /** The file that `--csv` names; unset or `-` is stdout. */
  readonly csvFile?: string | undefined;
  readonly globals: GlobalOptions;
  /** Ends the work at Ctrl-C. */
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** Makes the process end with a code other than 0 without an error message. */
  readonly endWith: (exitCode: number) => void;
}

/** What a process gives to all its commands. */
export type ProcessContext = Pick<CommandContext, 'streams' | 'environment' | 'signal' | 'now' | 'endWith'> & {
  readonly createTerminal: (isColorWanted: boolean) => Terminal;
};

/** The work of a command: what it was given, its own options, its arguments. */
export type CommandAction<Options> = (context: CommandContext, options: Options, args: readonly string[]) => Promise<void>;

/** Registers one command below another. */
export type RegisterCommand = (parent: Command, process: ProcessContext) => void;

/** Turns the work of a command into what commander calls. */
export function runWith<Options extends object>(process: ProcessContext, action: CommandAction<Options>) {
  return async (...parameters: unknown[]): Promise<void> => {
    const command = parameters.at(-1) as Command;
    const options = command.optsWithGlobals<GlobalOptions & Options>();
    const args = (command.processedArgs as unknown[]).flat().filter((value) => typeof value === 'string');
    await action(contextOf(process, options), options, args);
  };
}

/** The context of a command with these options. */
export function contextOf(process: ProcessContext, globals: GlobalOptions): CommandContext {
  const { streams, environment, signal, now, endWith } = process;
  const terminal = process.createTerminal(globals.color !== false);
  const csvFile = typeof globals.csv === 'string' ? globals.csv : undefined;
  return { terminal, streams, environment, format: formatOf(globals), csvFile, globals, signal, now, endWith };
}

/** The format that the options ask for. */
export function formatOf({ json, csv, format = 'table' }: GlobalOptions): OutputFormat {
  if (json === true) return 'json';
  return csv === undefined ? format : 'csv';
}
