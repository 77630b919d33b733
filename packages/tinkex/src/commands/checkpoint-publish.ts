import { withRest } from '../config/connect.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex checkpoint publish` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('publish')
    .argument('<path>', 'tinker://… of a checkpoint')
    .description('Make a checkpoint public.')
    .addHelpText('after', examples(['checkpoint publish tinker://0bd9d4f8:train:0/weights/final', 'anyone can use it']))
    .action(
      runWith(process, async (context, _options, [path = '']) => {
        await withRest(context, (rest) => rest.publishCheckpointFromTinkerPath(path, { signal: context.signal }));
      }),
    );
};
