import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { AbortedError } from '@tinkex/types';
import { explain } from './explain.js';
import { isOnlyWatched } from './inspection.js';
import { paint } from './terminal.js';

/** The description and the options of an example. */
export interface ExampleProgram<Option extends string, Flag extends string> {
  /** One sentence for `--help`. */
  readonly about: string;
  /** Options with a value: their meaning and default. */
  readonly options?: Readonly<Record<Option, { readonly default: string; readonly help: string }>>;
  /** Switches: their meaning. */
  readonly flags?: Readonly<Record<Flag, string>>;
  /** What Ctrl-C leaves behind, for the message. Default: everything that was not saved to a checkpoint is lost. */
  readonly whenInterrupted?: string | undefined;
  /** False for a program that needs no server. Default true. */
  readonly hasServer?: boolean | undefined;
}

/** A mistake on the command line: reported together with the usage. */
export class CommandLineError extends Error {}

/** What an example receives. */
export interface ExampleContext<Option extends string, Flag extends string> {
  /** Aborted by Ctrl-C. A second Ctrl-C ends the process immediately. */
  readonly signal: AbortSignal;
  readonly options: Readonly<Record<Option, string>>;
  readonly flags: Readonly<Record<Flag, boolean>>;
  /** The value of an option that must be a whole number from 1 up. */
  count(option: Option): number;
}

/**
 * Runs an example as a program: `--help` prints the usage, a failure prints one clear message and exits with code 1, a mistake on the command
 * line exits with code 2, Ctrl-C prints what is lost and exits with code 130.
 */
export async function runExample<Option extends string = never, Flag extends string = never>(
  program: ExampleProgram<Option, Flag>,
  example: (context: ExampleContext<Option, Flag>) => Promise<void>,
): Promise<void> {
  const given = readCommandLine(program);
  if (given === undefined) return;
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort(new Error('interrupted by Ctrl-C'));
  process.once('SIGINT', interrupt);
  process.stdout.once('error', endWithReader);
  try {
    const count = (option: Option): number => wholeNumber(option, given.options[option]);
    await example({ signal: interrupted.signal, ...given, count });
    if (interrupted.signal.aborted && !isOnlyWatched()) process.exitCode = 130;
  } catch (error) {
    if (error instanceof CommandLineError) return refuse(error, program);
    process.exitCode = interrupted.signal.aborted ? 130 : 1;
    const isStopped = interrupted.signal.aborted && AbortedError.isInstance(error);
    const { whenInterrupted = 'What was not saved to a checkpoint is lost.' } = program;
    console.error(`\n${paint('red', isStopped ? `Interrupted. ${whenInterrupted}` : explain(error), process.stderr)}`);
  } finally {
    process.off('SIGINT', interrupt);
  }
}

/** The reader of the output has left, as `head` does after its lines: end quietly. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}

function readCommandLine<Option extends string, Flag extends string>(
  program: ExampleProgram<Option, Flag>,
): Pick<ExampleContext<Option, Flag>, 'options' | 'flags'> | undefined {
  const optionNames = Object.keys(program.options ?? {}) as Option[];
  const flagNames = Object.keys(program.flags ?? {}) as Flag[];
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', short: 'h' },
        ...Object.fromEntries(optionNames.map((name) => [name, { type: 'string' as const }])),
        ...Object.fromEntries(flagNames.map((name) => [name, { type: 'boolean' as const }])),
      },
    });
    if (values.help) {
      console.log(usage(program));
      return undefined;
    }
    const given = values as Record<string, string | boolean | undefined>;
    const options = Object.fromEntries(optionNames.map((name) => [name, given[name] ?? program.options?.[name].default]));
    const flags = Object.fromEntries(flagNames.map((name) => [name, given[name] === true]));
    return { options: options as Record<Option, string>, flags: flags as Record<Flag, boolean> };
  } catch (error) {
    refuse(error, program);
    return undefined;
  }
}

function refuse(error: unknown, program: ExampleProgram<string, string>): void {
  process.exitCode = 2;
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage(program)}`);
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new CommandLineError(`--${option} must be a whole number of at least 1, got ${text}.`);
  return Number(text);
}

const ENVIRONMENT = `Runs on the embedded engine, without an account. To run it on a service, set
  TINKER_API_KEY         your key
  TINKER_BASE_URL        its address (default: the hosted service)
  TINKEX_BASE_MODEL      the model (default: the first model that the service offers)
`;

function usage({ about, options = {}, flags = {}, hasServer = true }: ExampleProgram<string, string>): string {
  const name = basename(process.argv[1] ?? 'example').replace(/\.[jt]s$/, '');
  const rows = [
    ...Object.entries(options).map(([key, option]) => [`--${key} <value>`, `${option.help} (default ${option.default})`]),
    ...Object.entries(flags).map(([key, help]) => [`--${key}`, help]),
    ['--help', 'show this text'],
  ];
  return [
    `Usage: npm start -- ${name} [options]`,
    '',
    about,
    '',
    ...rows.map(([left = '', right]) => `  ${left.padEnd(22)} ${right}`),
    '',
    ...(hasServer ? [ENVIRONMENT] : []),
    'All examples: npm start -- --list',
  ].join('\n');
}
