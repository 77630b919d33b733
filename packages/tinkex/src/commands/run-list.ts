import type { TrainingRun } from '@tinkex/clients';
import { withRest } from '../config/connect.js';
import { costJson, costText, type RunCost, readSessionCosts } from '../config/run-cost.js';
import { wrongUsage } from '../output/command-failure.js';
import { loraText } from '../output/describe-objects.js';
import { fetchList, listTitle } from '../output/fetch-list.js';
import { formatTime } from '../output/format-time.js';
import { runJson } from '../output/json-shapes.js';
import { nearest } from '../output/nearest-name.js';
import { type JsonFields, showList } from '../output/show-result.js';
import type { Column } from '../output/table.js';
import { countOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface RunListOptions {
  readonly limit: number;
  readonly columns: string;
  readonly project?: string | undefined;
  readonly model?: string | undefined;
}

const PAGE_SIZE = 100;

type CostOf = (runId: string) => RunCost | undefined;

const COLUMNS: Readonly<Record<string, (now: Date, costOf: CostOf) => Column<TrainingRun>>> = {
  id: () => ({ header: 'Run ID', value: ({ trainingRunId }) => trainingRunId }),
  model: () => ({ header: 'Base Model', value: ({ baseModel }) => baseModel }),
  owner: () => ({ header: 'Owner', value: ({ modelOwner }) => modelOwner }),
  lora: () => ({ header: 'LoRA', value: loraText }),
  updated: (now) => ({ header: 'Last Update', value: ({ lastRequestTime }) => formatTime(lastRequestTime, now) }),
  status: () => ({ header: 'Status', value: ({ corrupted }) => (corrupted ? 'Failed' : 'OK') }),
  checkpoint: () => ({ header: 'Last Checkpoint', value: ({ lastCheckpoint }) => lastCheckpoint?.checkpointId ?? 'None' }),
  checkpoint_time: (now) => ({ header: 'Checkpoint Time', value: ({ lastCheckpoint }) => formatTime(lastCheckpoint?.time, now) }),
  cost: (_now, costOf) => ({ header: 'Cost', value: ({ trainingRunId }) => costText(costOf(trainingRunId)), isRight: true }),
};

/** `tinkex run list` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('list')
    .description('List training runs, newest first.')
    .option('--limit <count>', 'how many to show; 0 shows all', countOf, 20)
    .option('-c, --columns <names>', `comma-separated: ${Object.keys(COLUMNS).join(', ')}`, 'id,model,lora,updated,status')
    .option('--project <id>', 'only runs of this project')
    .option('--model <substring>', 'only runs whose base model contains it')
    .option('--csv [file]', 'write CSV to a file, or to stdout')
    .addHelpText(
      'after',
      examples(
        ['run list --limit 0 --json', 'all runs, for programs'],
        ['run list -c id,model,cost', 'choose the columns; cost is that of the last 14 days'],
      ),
    )
    .action(
      runWith<RunListOptions>(process, async (context, { limit, columns, project: projectId, model }) => {
        const names = columnNames(columns);
        const hasCost = names.includes('cost');
        const pageSize = limit === 0 ? PAGE_SIZE : Math.min(PAGE_SIZE, limit);
        const list = await withRest(context, async (rest) => {
          const runs = rest.listTrainingRuns({ limit: pageSize, projectId, signal: context.signal });
          const isWanted = ({ baseModel }: TrainingRun): boolean => baseModel.toLowerCase().includes((model ?? '').toLowerCase());
          const pages = {
            pages: () => runs.pages(),
            itemsOf: ({ trainingRuns }: { trainingRuns: readonly TrainingRun[] }) => trainingRuns.filter(isWanted),
            totalOf: ({ cursor }: { cursor: { totalCount: number } }) => (model === undefined ? cursor.totalCount : undefined),
          };
          return await fetchList(context, pages, limit);
        });
        const costOf: CostOf = hasCost ? await readSessionCosts(context) : () => undefined;
        const shown = names.flatMap((name) => COLUMNS[name]?.(context.now(), costOf) ?? []);
        const row = (run: TrainingRun): JsonFields => ({ ...runJson(run), ...(hasCost ? costJson(costOf(run.trainingRunId)) : {}) });
        const json = { runs: list.items.map(row) };
        await showList(context, { title: listTitle(list, 'training run'), columns: shown, rows: list.items, json, csv: row });
      }),
    );
};

function columnNames(text: string): string[] {
  return text.split(',').map((each) => {
    const name = each.trim();
    if (Object.hasOwn(COLUMNS, name)) return name;
    const guess = nearest(name, Object.keys(COLUMNS));
    throw wrongUsage(
      `There is no column "${name}"${guess === undefined ? '' : `. Did you mean ${guess}?`}`,
      `Columns: ${Object.keys(COLUMNS).join(', ')}`,
    );
  });
}
