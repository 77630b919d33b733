import type { Command } from 'commander';
import { wrongUsage } from '../output/command-failure.js';
import { type CompletionEntry, completionScript, SHELLS } from '../output/completion-script.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex completion` */
export const register: RegisterCommand = (command, process) => {
  command
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText(
      'after',
      examples(
        ['completion bash >> ~/.bashrc', 'bash'],
        ['completion zsh > ~/.zfunc/_tinkex', 'zsh, with ~/.zfunc in fpath'],
        ['completion fish > ~/.config/fish/completions/tinkex.fish', 'fish'],
      ),
    )
    .action(
      runWith(process, async (context, _options, [name]) => {
        const shell = SHELLS.find((each) => each === name);
        if (shell === undefined) throw wrongUsage(`There is no completion for "${name}"`, `Shells: ${SHELLS.join(', ')}`);
        context.terminal.write(completionScript(shell, entriesOf(rootOf(command), [])));
      }),
    );
};

/** Every command with what may follow it: its subcommands, its options and those of all commands. */
function entriesOf(command: Command, path: readonly string[]): CompletionEntry[] {
  const globals = path.length === 0 ? [] : rootOf(command).options;
  const options = [...command.options, ...globals].flatMap(({ long, description }) =>
    long === undefined || long === null ? [] : [{ word: long, description }],
  );
  const commands = command.commands.map((each) => ({ word: each.name(), description: each.description() }));
  return [{ path, commands, options }, ...command.commands.flatMap((each) => entriesOf(each, [...path, each.name()]))];
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}
