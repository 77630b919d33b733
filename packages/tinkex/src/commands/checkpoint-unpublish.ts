import { withRest } from '../config/connect.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex checkpoint unpublish` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('unpublish')
    .argument('<path>', 'tinker://… of a checkpoint')
    .description('Make a public checkpoint private again.')
    .addHelpText('after', examples(['checkpoint unpublish tinker://0bd9d4f8:train:0/weights/final', 'only you can use it again']))
    .action(
      runWith(process, async (context, _options, [path = '']) => {
        await withRest(context, (rest) => rest.unpublishCheckpointFromTinkerPath(path, { signal: context.signal }));
      }),
    );
};
