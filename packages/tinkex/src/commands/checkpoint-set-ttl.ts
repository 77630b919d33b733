import { withRest } from '../config/connect.js';
import { wrongUsage } from '../output/command-failure.js';
import { positiveCountOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface SetTtlOptions {
  readonly ttl?: number | undefined;
  readonly remove?: boolean | undefined;
}

/** `tinkex checkpoint set-ttl` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('set-ttl')
    .argument('<path>', 'tinker://… of a checkpoint')
    .description('Set when a checkpoint expires.')
    .option('--ttl <seconds>', 'seconds from now; the hosted service takes 3600 to ten years', positiveCountOf)
    .option('--remove', 'keep it forever')
    .addHelpText(
      'after',
      examples(
        ['checkpoint set-ttl tinker://0bd9d4f8:train:0/weights/final --ttl 86400', 'expires tomorrow'],
        ['checkpoint set-ttl tinker://0bd9d4f8:train:0/weights/final --remove', 'never expires'],
      ),
    )
    .action(
      runWith<SetTtlOptions>(process, async (context, { ttl, remove = false }, [path = '']) => {
        if ((ttl === undefined) !== remove) throw wrongUsage('Set exactly one of --ttl SECONDS and --remove');
        await withRest(context, (rest) => rest.setCheckpointTtlFromTinkerPath(path, ttl ?? null, { signal: context.signal }));
      }),
    );
};
