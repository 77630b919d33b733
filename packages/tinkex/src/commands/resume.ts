import { resolve } from 'node:path';
import { readRunOrigin } from '../config/run-origin.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';
import { runRecipe } from './run-recipe.js';

/** `tinkex resume` */
export const register: RegisterCommand = (command, process) => {
  command
    .argument('<folder>', 'the run folder')
    .addHelpText('after', examples(['resume runs/first', 'after Ctrl-C or a crash']))
    .action(
      runWith(process, async (context, _options, [folder = '']) => {
        await runRecipe(context, await readRunOrigin(resolve(folder)));
      }),
    );
};
