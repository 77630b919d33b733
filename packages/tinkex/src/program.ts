import { Command, Option } from 'commander';
import { COMMAND_TABLE, type TopLevelCommand } from './command-table.js';
import { countOf } from './commands/arguments.js';
import type { ProcessContext } from './commands/command-context.js';
import { examples } from './commands/help-text.js';
import { version } from './version.js';

const EXIT_CODES = `
Exit codes:
  0  success
  1  failure; with --json, stderr has one line of JSON with the reason
  2  wrong usage
  3  invalid data or configuration; nothing was sent
  130  stopped by Ctrl-C`;

/**
 * The command line, with the definitions of the commands that the arguments may be about. The others are there with their name and description, so that the help
 * lists them; a command loads what it works with when it runs.
 */
export async function createProgram(process: ProcessContext, args: readonly string[]): Promise<Command> {
  const program = new Command('tinkex')
    .description('Train, sample and manage language models with Tinker.')
    .version(`tinkex ${version}`, '-v, --version', 'show the version')
    .addOption(new Option('-f, --format <format>', 'how results are written').choices(['table', 'json', 'csv']).default('table'))
    .option('--json', 'write results as JSON; the same as --format json')
    .option('--base-url <url>', 'the server; default: TINKER_BASE_URL, then the hosted service, or without a key the embedded engine')
    .option('--local', 'the embedded engine, whose state is in .tinkex/, even if a key is set')
    .option('--max-retries <count>', 'how often a request is repeated after a temporary failure (default: 3)', countOf)
    .option('--no-color', 'no colors; NO_COLOR does the same')
    .option('--debug', 'show the stack of a failure')
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => process.streams.out.write(text),
      writeErr: (text) => process.streams.error.write(text),
    })
    .addHelpText(
      'after',
      examples(
        ['init', 'start here: no account needed'],
        ['train sft', 'train on your conversations'],
        ['chat', 'talk to the result'],
        ['run list --json', 'for programs'],
      ),
    )
    .addHelpText('after', EXIT_CODES);
  // Commander gives these to the commands that are created below.
  program.exitOverride().showHelpAfterError('(--help shows what is possible)');
  // The completion has the words of all commands.
  const isWanted = ({ name }: TopLevelCommand): boolean => args.includes(name) || args.includes('completion');
  for (const entry of COMMAND_TABLE) await addCommand(program, process, entry, isWanted(entry));
  return program;
}

async function addCommand(program: Command, process: ProcessContext, entry: TopLevelCommand, isWanted: boolean): Promise<void> {
  const { name, description, isGroup = false } = entry;
  const command = program.command(name).description(description);
  if (isGroup) command.addHelpText('after', `\n\`tinkex ${name} COMMAND --help\` shows examples.`);
  if (!isWanted) return;
  for (const { register } of await entry.load()) register(command, process);
}
