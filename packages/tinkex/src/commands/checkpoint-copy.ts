import { withRest } from '../config/connect.js';
import { showRecord } from '../output/show-result.js';
import { positiveCountOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface CopyOptions {
  readonly project?: string | undefined;
  readonly ttl?: number | undefined;
}

/** `tinkex checkpoint copy` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('copy')
    .argument('<path>', 'tinker://… of a checkpoint')
    .description('Copy a checkpoint into a project. The copy shares its storage with the source.')
    .option('--project <id>', 'the project of the copy; default: TINKER_PROJECT_ID')
    .option('--ttl <seconds>', 'let the copy expire', positiveCountOf)
    .addHelpText('after', examples(['checkpoint copy tinker://0bd9d4f8:train:0/weights/final --project shared', 'into another project']))
    .action(
      runWith<CopyOptions>(process, async (context, { project, ttl }, [path = '']) => {
        const options = { destinationProjectId: project, ttlSeconds: ttl, signal: context.signal };
        const copy = await withRest(context, (rest) => rest.copyWeights(path, options));
        await showRecord(context, {
          title: 'Copied',
          properties: [
            ['From', path],
            ['Copy', copy.path],
          ],
          json: { tinker_path: path, copy_path: copy.path },
        });
      }),
    );
};
