import { resolve } from 'node:path';
import { readRunOrigin } from '../config/run-origin.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';
import { runRecipe } from './run-recipe.js';

/** `tinkex resume` */
export const registerResume: RegisterCommand = (parent, process) => {
  parent
    .command('resume')
    .argument('<folder>', 'the run folder')
    .description('Continue a run of `tinkex train` where its last checkpoint was saved.')
    .addHelpText('after', examples(['resume runs/first', 'after Ctrl-C or a crash']))
    .action(
      runWith(process, async (context, _options, [folder = '']) => {
        await runRecipe(context, await readRunOrigin(resolve(folder)));
      }),
    );
};
