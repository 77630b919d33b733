import type { Checkpoint } from '@tinkex/clients';
import { withRest } from '../config/connect.js';
import { checkpointColumns } from '../output/describe-objects.js';
import { fetchList, listTitle } from '../output/fetch-list.js';
import { checkpointJson } from '../output/json-shapes.js';
import { showList } from '../output/show-result.js';
import { checkpointTypeOf, countOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface CheckpointListOptions {
  readonly runId?: string | undefined;
  readonly limit: number;
  readonly type?: string | undefined;
}

const PAGE_SIZE = 1_000;

/** `tinkex checkpoint list` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('list')
    .description('List checkpoints: of all runs, or all of one run.')
    .option('--run-id <id>', 'only checkpoints of this run, all of them')
    .option('--type <type>', 'only this kind: training, sampler or external', checkpointTypeOf)
    .option('--limit <count>', 'how many to show; 0 shows all', countOf, 20)
    .option('--csv [file]', 'write CSV to a file, or to stdout')
    .addHelpText(
      'after',
      examples(['checkpoint list --run-id 0bd9d4f8:train:0', 'one run'], ['checkpoint list --type sampler --csv all.csv', 'into a file']),
    )
    .action(
      runWith<CheckpointListOptions>(process, async (context, { runId, limit, type }) => {
        const { signal } = context;
        const isWanted = ({ checkpointType }: Checkpoint): boolean => type === undefined || checkpointType === type;
        const list = await withRest(context, async (rest) => {
          const pageSize = limit === 0 ? PAGE_SIZE : Math.min(PAGE_SIZE, limit);
          const found =
            runId === undefined ? rest.listUserCheckpoints({ limit: pageSize, signal }) : rest.listCheckpoints(runId, { signal });
          const pages = {
            pages: () => found.pages(),
            itemsOf: ({ checkpoints }: { checkpoints: readonly Checkpoint[] }) => checkpoints.filter(isWanted),
            totalOf: ({ cursor }: { cursor?: { totalCount: number } | undefined }) => (type === undefined ? cursor?.totalCount : undefined),
          };
          return await fetchList(context, pages, runId === undefined ? limit : 0);
        });
        await showList(context, {
          title: listTitle(list, 'checkpoint'),
          columns: checkpointColumns(context.now()),
          rows: list.items,
          json: { ...(runId !== undefined && { run_id: runId }), checkpoints: list.items.map(checkpointJson) },
          csv: checkpointJson,
        });
      }),
    );
};
